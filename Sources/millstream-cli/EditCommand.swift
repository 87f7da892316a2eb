import ArgumentParser
import Foundation
import HLSPlaylist
import MediaTransport
import PlaylistEditing
import PresentationLoading
import ReportFormat
import ResourceAddressing

/// The command `millstream edit`.
struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Filter, trim and stitch playlists.",
        discussion: """
            Edits are applied in the given order. Without an edit, the output equals the input byte for byte. An edited playlist has \
            absolute URLs, unless it is written to the folder of its source.

            Example: millstream edit https://example.com/multivariant.m3u8 --bandwidth 900k...4M
            Example: millstream edit multivariant.m3u8 --duration 30 --append advertisement.m3u8 -o edited
            """
    )

    @Argument(help: "The URL or file of a playlist or DASH manifest, or - for standard input.")
    var source: String

    @OptionGroup(title: "Edits") var edits: EditOptions

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @Option(
        name: [.customShort("o"), .long],
        help:
            "The output file, or a folder for the edited multivariant playlist and its media playlists; folders are created (default: -, standard output)."
    )
    var output: String?

    @Flag(name: .long, help: "Keep relative URLs, even if the output is in another folder.") var relative = false

    @OptionGroup(title: "Limits") var limits: EditLimitOptions

    @OptionGroup(title: "DASH") var dash: DASHFlags

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    mutating func run() async throws {
        let (plan, budget) = (try edits.plan, EditBudget(limits.limits))
        let output = output == "-" ? nil : output
        try budget.limits.verify(plan)
        try await http.withLoading(source: source, base: baseURL, others: plan.sources) { loading in
            let presentations = dash.store
            let loading = presentations.map { loading.translatingPresentations(in: $0) } ?? loading
            let loader = SourcePlaylistLoader(loader: loading)
            let editor = try PresentationEditor(plan, loader: loader, budget: budget, date: .current)
            let playlist = try await PlaylistSource(text: source, baseURL: baseURL)
                .load(loading, budget: budget, presentations: presentations)
            let prepared = try await editor.prepare(playlist)
            for name in prepared.reducedSources {
                StandardError.write(
                    "note: \(PlaylistSource.name(name)) is a multivariant playlist; its variant with the lowest bit rate is inserted\n"
                )
            }
            switch try prepared.apply() {
            case .media(let edited):
                let path = output.map { isFolder($0) ? $0 + "/media.m3u8" : $0 }
                try write(placed(.media(edited), at: path, plan, budget), to: path)
            case .multivariant(let presentation):
                if presentation.omitsIFrameVariants {
                    StandardError.write("note: I-frame playlists are omitted because an inserted playlist has none\n")
                }
                let isTranslated = presentation.playlist.variants.contains { DerivedAddress($0.address) != nil }
                guard
                    plan.edits.contains(where: \.concernsMediaPlaylists)
                        || isTranslated && output.map(isFolderName) ?? false
                else {
                    let path = output.map { isFolder($0) ? $0 + "/multivariant.m3u8" : $0 }
                    if isTranslated {
                        StandardError.write(
                            "note: only millstream can load the media playlists of a translated manifest; write all of them with -o FOLDER\n"
                        )
                    }
                    return try write(placed(.multivariant(presentation.playlist), at: path, plan, budget), to: path)
                }
                guard let output else {
                    throw Failure(
                        .wrongUsage,
                        "usage",
                        "these edits write several playlists, because they change the media playlists of a multivariant playlist",
                        hint: "use -o FOLDER to write all of them"
                    )
                }
                guard isFolderName(output) else {
                    throw Failure(
                        .wrongUsage,
                        "usage",
                        "these edits write several playlists, and \(output) is the name of one",
                        hint: "use -o FOLDER to write all of them"
                    )
                }
                let files = try await SubtitleFiles(loader: loading).adding(to: editor.files(of: presentation))
                let folder = URL(fileURLWithPath: output)
                try OutputFolder.write(files.map { (name: $0.name, bytes: $0.bytes) }, to: folder)
                let count = files.count { $0.name.hasSuffix(".m3u8") }
                StandardError.write("\(QuantityText.count(count, "playlist")) written to \(folder.path)\n")
            }
        }
    }

    /// Returns the bytes of an edited playlist, with absolute URLs if it is written outside of the folder of its
    /// source.
    private func placed(
        _ playlist: Playlist,
        at path: String?,
        _ plan: EditPlan,
        _ budget: EditBudget
    ) throws -> [UInt8] {
        guard !plan.edits.isEmpty else { return playlist.bytes }
        guard !relative, !(path.map(isBesideSource) ?? false) else {
            // The URL of the output never has query parameters.
            return try playlist.definingExternalVariables(limits: budget.limits.result).bytes
        }
        if source == "-", playlist.context.address == nil, playlist.hasRelativeAddress {
            StandardError.write(
                "note: the relative URLs of a playlist from standard input stay relative; give their base with --base-url URL\n"
            )
        }
        return try playlist.withAbsoluteAddresses(limits: budget.limits.result)
            .definingExternalVariables(limits: budget.limits.result).bytes
    }

    /// Returns whether a file is in the folder of the source, so that relative URLs refer to the same resources.
    ///
    /// Symbolic links are resolved. The result is `false` for a pipe or a device.
    private func isBesideSource(_ path: String) -> Bool {
        guard source != "-", let address = try? PlaylistSource.address(source), let file = address.filePath,
            case .file(let target) = OutputTarget(URL(fileURLWithPath: path))
        else { return false }
        func folder(_ file: URL) -> String {
            file.deletingLastPathComponent().standardizedFileURL.resolvingSymlinksInPath().path
        }
        return folder(URL(fileURLWithPath: file)) == folder(target)
    }

    /// Returns whether a path is that of a folder, or of a new folder because it does not have the extension of a
    /// playlist.
    private func isFolderName(_ path: String) -> Bool {
        isFolder(path) || ![".m3u8", ".m3u"].contains(where: path.lowercased().hasSuffix)
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return path.hasSuffix("/")
            || FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private func write(_ bytes: [UInt8], to path: String?) throws {
        guard let path else { return try StandardOutput.write(playlist: bytes) }
        try OutputFile.write(bytes, to: URL(fileURLWithPath: path))
        StandardError.write("1 playlist written to \(path)\n")
    }
}

extension Playlist {
    /// A Boolean value that indicates whether the URL of a variant or a segment depends on that of the playlist.
    fileprivate var hasRelativeAddress: Bool {
        switch self {
        case .media(let playlist): playlist.segments.contains { !ResourceAddress($0.uri).isAbsolute }
        case .multivariant(let playlist): playlist.variants.contains { !ResourceAddress($0.uri).isAbsolute }
        }
    }
}

/// A loader of the playlists that edits name by an address or a file.
struct SourcePlaylistLoader: PlaylistLoader {
    let loader: ResourceLoader

    func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
        try await PlaylistSource(text: source, baseURL: nil).load(loader, variables: variables, budget: budget)
    }
}

import ArgumentParser
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// The command `millstream edit`.
struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Filter, trim and stitch playlists.",
        discussion: """
            Edits are applied in the given order. Without an edit, the output equals the input byte for byte.

            Example: millstream edit https://example.com/multivariant.m3u8 --bandwidth 900k...4M
            Example: millstream edit multivariant.m3u8 --duration 30 --append advertisement.m3u8 -o edited
            """
    )

    @Argument(help: "The URL or file of a playlist, or - for standard input.")
    var source: String

    @OptionGroup(title: "Edits") var edits: EditFlags

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @Option(
        name: [.customShort("o"), .long],
        help:
            "The output file, or a folder for the edited multivariant playlist and its media playlists (default: standard output)."
    )
    var output: String?

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    mutating func run() async throws {
        let plan = try edits.plan(arguments: CommandLine.arguments)
        try await http.withLoading(source: source, base: baseURL, others: plan.sources) { loading in
            let playlist = try await PlaylistSource(text: source, baseURL: baseURL).load(loading)
            switch playlist {
            case .media(let media):
                let stitching = InsertedPlaylistLoader(loader: loading)
                let edited = try plan.applied(to: media, sources: try await stitching.mediaPlaylists(for: plan))
                try write(edited.bytes, to: output)
            case .multivariant(let multivariant):
                let sources = try await InsertedPlaylistLoader(loader: loading).playlists(for: plan)
                let edited = try plan.applied(to: multivariant, sources: sources)
                if edited.iFrameVariants.isEmpty, !multivariant.iFrameVariants.isEmpty, !plan.edits.contains(.noIFrames)
                {
                    StandardError.write("note: I-frame playlists are omitted because an inserted playlist has none\n")
                }
                let changesMedia = plan.edits.contains { !$0.isFilter && ![.absolute, .canonical].contains($0) }
                guard changesMedia else {
                    try write(edited.bytes, to: output.map { isFolder($0) ? $0 + "/multivariant.m3u8" : $0 })
                    return
                }
                guard let output else {
                    throw Failure(
                        .wrongUsage,
                        "usage",
                        "these edits write several playlists, because they change the media playlists of a multivariant playlist",
                        hint: "use -o FOLDER to write all of them"
                    )
                }
                try await EditedSet(playlist: edited, plan: plan, sources: sources, loader: loading)
                    .write(to: URL(fileURLWithPath: output))
            }
        }
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return path.hasSuffix("/")
            || FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private func write(_ bytes: [UInt8], to path: String?) throws {
        guard let path else { return try StandardOutput.write(playlist: bytes) }
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) else {
            throw Failure(.failed, "disk-failed", "the folder \(url.deletingLastPathComponent().path) does not exist")
        }
        try OutputFile.write(bytes, to: url)
        StandardError.write("1 playlist written to \(path)\n")
    }
}

/// A writer of files that are complete or absent.
enum OutputFile {
    static func write(_ bytes: [UInt8], to url: URL) throws {
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: url, options: .atomic)
        } catch {
            throw Failure(.failed, "disk-failed", "\(url.path) cannot be written (\(error.localizedDescription))")
        }
    }
}

/// The loading of the playlists that edits insert.
struct InsertedPlaylistLoader {
    let loader: ResourceLoader

    /// Returns all inserted playlists by name.
    func playlists(for plan: EditPlan) async throws -> [String: Playlist] {
        var result: [String: Playlist] = [:]
        for name in plan.sources where result[name] == nil && GapPlaylist.playlist(at: name) == nil {
            result[name] = try await PlaylistSource(text: name, baseURL: nil).load(loader)
        }
        return result
    }

    /// Returns all inserted playlists as media playlists by name; a multivariant playlist is replaced by the variant
    /// with the lowest bit rate.
    func mediaPlaylists(for plan: EditPlan) async throws -> [String: MediaPlaylist] {
        var result: [String: MediaPlaylist] = [:]
        for (name, playlist) in try await playlists(for: plan) {
            if case .multivariant(let multivariant) = playlist, multivariant.variants.count > 1 {
                StandardError.write(
                    "note: \(PlaylistSource.name(name)) is a multivariant playlist; its variant with the lowest bit rate is inserted\n"
                )
            }
            result[name] = try await mediaPlaylist(playlist)
        }
        return result
    }

    func mediaPlaylist(_ playlist: Playlist) async throws -> MediaPlaylist {
        switch playlist {
        case .media(let media): return media
        case .multivariant(let multivariant):
            guard let address = StitchMatching(multivariant).lowestBitRateVariant else {
                throw PlaylistEditError.cannotStitch(reason: "the inserted playlist has no variants")
            }
            let child = try await PlaylistSource(text: address.text, baseURL: nil)
                .load(loader, variables: multivariant.variables)
            guard case .media(let media) = child else {
                throw PlaylistParsingError.unexpectedKind(found: .multivariant)
            }
            return media
        }
    }
}

/// A multivariant playlist and its media playlists, all edited, to be written into one folder.
struct EditedSet {
    let playlist: MultivariantPlaylist
    let plan: EditPlan
    let sources: [String: Playlist]
    let loader: ResourceLoader

    func write(to folder: URL) async throws {
        let stitching = InsertedPlaylistLoader(loader: loader)
        var gaps: [String: String] = [:]
        for (name, source) in sources {
            gaps[name] = try GapPlaylist.address(of: try await stitching.mediaPlaylist(source).duration)
        }
        let plans = plan.childPlans(sources: sources, gaps: gaps)
        var names: [String: String] = [:]
        var files: [(String, [UInt8])] = []
        for (entry, name) in entries {
            guard let address = entry.address, names[address.text] == nil else { continue }
            let child = try await PlaylistSource(text: address.text, baseURL: nil)
                .load(loader, variables: playlist.variables)
            guard case .media(let media) = child else {
                throw PlaylistParsingError.unexpectedKind(found: .multivariant)
            }
            let childPlan = try plans.plan(for: entry)
            let others = try await stitching.mediaPlaylists(for: childPlan)
            // The files are not in the folder of the segments, so addresses must be absolute.
            let edited = try childPlan.applied(to: try media.withAbsoluteAddresses(), sources: others)
            names[address.text] = name
            files.append((name, edited.bytes))
        }
        let top = try Playlist.multivariant(playlist).rewritingAddresses { address in
            names[address.address.text] ?? (address.address.isAbsolute ? address.address.text : nil)
        }
        // The multivariant playlist is written last, when all playlists to which it refers exist.
        for (name, bytes) in files { try OutputFile.write(bytes, to: folder.appendingPathComponent(name)) }
        try OutputFile.write(top.bytes, to: folder.appendingPathComponent("multivariant.m3u8"))
        StandardError.write("\(files.count + 1) playlists written to \(folder.path)\n")
    }

    private var entries: [(PresentationEntry, String)] {
        let variants = playlist.variants.enumerated().map { number, variant in
            (PresentationEntry.variant(variant), "variant-\(number).m3u8")
        }
        let renditions = playlist.renditions.enumerated().map { number, rendition in
            (PresentationEntry.rendition(rendition), "rendition-\(number).m3u8")
        }
        let iFrames = playlist.iFrameVariants.enumerated().map { number, variant in
            (PresentationEntry.variant(variant), "iframes-\(number).m3u8")
        }
        return variants + renditions + iFrames
    }
}

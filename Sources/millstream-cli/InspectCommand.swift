import ArgumentParser
import DASHManifest
import HLSPlaylist
import MediaTransport
import ReportFormat
import ResourceAddressing

/// The command `millstream inspect`.
struct InspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show the contents of a playlist or a DASH manifest.",
        discussion: """
            Parses a playlist as leniently as a player, and lists violations of the standard.

            Example: millstream inspect https://example.com/multivariant.m3u8 --follow
            """
    )

    @Argument(help: "The URL or file of a playlist or DASH manifest, or - for standard input.")
    var source: String

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @Option(name: .long, help: "The base URL of relative URLs in the playlist.")
    var baseURL: String?

    @Flag(name: .long, help: "Load the media playlists of a multivariant playlist too.")
    var follow = false

    @OptionGroup(title: "HTTP") var http: HTTPFlags

    mutating func run() async throws {
        try await http.withLoading(source: source, base: baseURL) { loading in
            let (bytes, address) = try await PlaylistSource(text: source, baseURL: baseURL).bytes(loading)
            if let presentation = try PresentationSource.presentation(bytes, address: address, name: source) {
                if json {
                    try StandardOutput.writeLine(presentation.report)
                } else {
                    try StandardOutput.writeLine(PresentationTable(presentation).text)
                }
                return
            }
            let playlist = try PlaylistSource.playlist(bytes, address: address, name: source)
            let children = follow ? try await mediaPlaylists(of: playlist, loading) : []
            if json {
                guard case .object(var fields) = playlist.report else { return }
                if follow {
                    fields.append(ReportValue.Field(name: "playlists", value: .array(children.map(\.report))))
                }
                try StandardOutput.writeLine(ReportValue.object(fields))
            } else {
                try StandardOutput.writeLine(PlaylistTable(playlist).text)
                for child in children { try StandardOutput.writeLine("\n" + PlaylistTable(child).text) }
            }
        }
    }

    /// Returns each media playlist once, in the order of the multivariant playlist.
    private func mediaPlaylists(of playlist: Playlist, _ loader: ResourceLoader) async throws -> [Playlist] {
        guard case .multivariant(let multivariant) = playlist else { return [] }
        var seen: Set<String> = []
        let addresses =
            multivariant.variants.map(\.address) + multivariant.renditions.compactMap(\.address)
            + multivariant.iFrameVariants.map(\.address)
        var result: [Playlist] = []
        for address in addresses where seen.insert(address.text).inserted {
            result.append(
                try await PlaylistSource(text: address.text, baseURL: nil)
                    .load(loader, variables: multivariant.variables)
            )
        }
        return result
    }
}

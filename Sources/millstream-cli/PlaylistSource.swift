import Foundation
import HLSPlaylist
import MediaTransport
import ResourceAddressing

/// What SOURCE means on the command line: an address, a file, or `-` for standard input.
struct PlaylistSource {
    let text: String
    let baseURL: String?

    /// Loads and parses it.
    func load(_ loading: ResourceLoading, variables: [String: String] = [:]) async throws -> Playlist {
        let (bytes, address) = try await bytes(loading)
        do {
            return try Playlist.parse(
                bytes,
                context: PlaylistContext(address: address, importableVariables: variables)
            )
        } catch {
            let isManifest = bytes.prefix(4096).firstRange(of: Array("<MPD".utf8)) != nil
            throw isManifest
                ? Failure(.badInput, "dash", "\(text) is a DASH manifest; this command reads HLS playlists")
                : Failure(.badInput, error.code, "\(text) is \(error)")
        }
    }

    /// The address of a source that is not standard input.
    static func address(_ text: String) -> ResourceAddress {
        let address = ResourceAddress(text)
        if let scheme = address.normalizedScheme, ["http", "https", "file", "data"].contains(scheme) { return address }
        return ResourceAddress(filePath: URL(fileURLWithPath: text).standardizedFileURL.path)
    }

    private func bytes(_ loading: ResourceLoading) async throws -> ([UInt8], ResourceAddress?) {
        let base = baseURL.map { ResourceAddress($0) }
        if let base, !base.isAbsolute {
            throw Failure(.wrongUsage, "usage", "--base-url wants an absolute address, not \"\(base)\"")
        }
        if text == "-" {
            return ([UInt8](try FileHandle.standardInput.readToEnd() ?? Data()), base)
        }
        let loaded = try await loading.load(TransportRequest(Self.address(text), kind: .playlist))
        return (loaded.bytes, base ?? loaded.address)
    }
}

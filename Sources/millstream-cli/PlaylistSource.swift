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
            throw Failure(.badInput, error.code, "\(Self.name(text)): \(error)")
        }
    }

    /// Returns the name of a source in messages: a file as it was given, an address without what may be a secret.
    static func name(_ text: String) -> String {
        let address = ResourceAddress(text)
        if text == "-" { return "the standard input" }
        return address.isHTTP || address.normalizedScheme == "data" ? address.description : text
    }

    /// The address of a source that is not standard input.
    ///
    /// - Throws: ``Failure`` where it is empty or of a scheme that cannot be loaded.
    static func address(_ text: String) throws -> ResourceAddress {
        guard !text.isEmpty else { throw Failure(.wrongUsage, "usage", "an empty text is no source") }
        let address = ResourceAddress(text)
        if let scheme = address.normalizedScheme {
            if ["http", "https", "file", "data"].contains(scheme) { return address }
            // A drive letter and a name with a colon are files; what has an authority is meant as an address.
            guard address.authority == nil else {
                throw Failure(
                    .wrongUsage,
                    "usage",
                    "\(scheme) addresses cannot be loaded",
                    hint: "a source is an http or https address, a file, or -"
                )
            }
        }
        return ResourceAddress(filePath: URL(fileURLWithPath: text).standardizedFileURL.path)
    }

    private func bytes(_ loading: ResourceLoading) async throws -> ([UInt8], ResourceAddress?) {
        let base = baseURL.map { ResourceAddress($0) }
        if let base, !base.isAbsolute {
            throw Failure(.wrongUsage, "usage", "--base-url wants an absolute address, not \"\(base)\"")
        }
        if text == "-" {
            return ([UInt8](try InputFile.standardInput()), base)
        }
        let loaded = try await loading.load(TransportRequest(try Self.address(text), kind: .playlist))
        return (loaded.bytes, base ?? loaded.address)
    }
}

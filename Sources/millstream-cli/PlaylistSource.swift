import Foundation
import HLSPlaylist
import MediaTransport
import ResourceAddressing

/// A SOURCE argument of the command line: an address, a file, or `-` for standard input.
struct PlaylistSource {
    let text: String
    let baseURL: String?

    /// Loads and parses the playlist.
    func load(_ loader: ResourceLoader, variables: [String: String] = [:]) async throws -> Playlist {
        let (bytes, address) = try await bytes(loader)
        return try Self.playlist(bytes, address: address, name: text, variables: variables)
    }

    /// Parses a playlist that was loaded.
    static func playlist(
        _ bytes: [UInt8],
        address: ResourceAddress?,
        name: String,
        variables: [String: String] = [:]
    ) throws -> Playlist {
        do {
            return try Playlist.parse(
                bytes,
                context: PlaylistContext(address: address, importableVariables: variables)
            )
        } catch {
            throw Failure(.badInput, error.code, "\(Self.name(name)): \(error)")
        }
    }

    /// Returns the name of a source for messages: a file as given, an address without parts that can be secret.
    static func name(_ text: String) -> String {
        let address = ResourceAddress(text)
        if text == "-" { return "standard input" }
        return address.isHTTP || address.normalizedScheme == "data" ? address.description : text
    }

    /// Returns the address of a source other than standard input.
    ///
    /// - Throws: ``Failure`` if the text is empty or its scheme is not supported.
    static func address(_ text: String) throws -> ResourceAddress {
        guard !text.isEmpty else { throw Failure(.wrongUsage, "usage", "the source is empty") }
        let address = ResourceAddress(text)
        if let scheme = address.normalizedScheme {
            if ["http", "https", "file", "data"].contains(scheme) { return address }
            // Drive letters and file names with a colon are files; a text with an authority is an address.
            guard address.authority == nil else {
                throw Failure(
                    .wrongUsage,
                    "usage",
                    "the URL scheme \(scheme) is not supported",
                    hint: "a source must be an http or https URL, a file, or -"
                )
            }
        }
        return ResourceAddress(filePath: URL(fileURLWithPath: text).standardizedFileURL.path)
    }

    /// Loads the resource; returns its bytes and the base URL of its references.
    func bytes(_ loader: ResourceLoader) async throws -> ([UInt8], ResourceAddress?) {
        let base = baseURL.map { ResourceAddress($0) }
        if let base, !base.isAbsolute {
            throw Failure(.wrongUsage, "usage", "--base-url must be an absolute URL, not \"\(base)\"")
        }
        if text == "-" {
            return ([UInt8](try InputFile.standardInput()), base)
        }
        let loaded = try await loader.load(TransportRequest(try Self.address(text), kind: .playlist))
        return (loaded.bytes, base ?? loaded.address)
    }
}

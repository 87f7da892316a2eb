import Foundation
import HLSPlaylist
import MediaTransport
import PlaylistEditing
import PresentationLoading
import ResourceAddressing

/// A playlist or media from standard input, as a file that can be played.
struct PlayedStandardInput {
    /// The path of the file.
    let path: String
    /// The DASH manifest in standard input, with the URL at which it is played; `nil` for anything else.
    private(set) var manifest: PlayedManifest?
    private let folder: URL

    /// The maximum size of a playlist, in bytes.
    private static let maximumPlaylistSize = 64 << 20
    private static let blockSize = 1 << 20

    /// Creates an instance by reading standard input to its end.
    ///
    /// - Parameter base: The base URL of relative URLs in a playlist; `nil` if there is none.
    /// - Throws: ``Failure`` if the input cannot be stored, or if a playlist has relative URLs and no base URL.
    init(base: ResourceAddress?) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("millstream-\(UUID())")
        let file = folder.appendingPathComponent("standard-input")
        path = file.path
        do {
            try PrivateFiles.createFolder(folder.path)
            manifest = try Self.store(at: file, base: base)
        } catch {
            remove()
            if error is Failure || error is CancellationError { throw error }
            throw Failure(writing: path, error)
        }
    }

    /// Deletes the file.
    func remove() { try? FileManager.default.removeItem(at: folder) }

    private static func store(at file: URL, base: ResourceAddress?) throws -> PlayedManifest? {
        var block = try InputFile.block(upTo: blockSize)
        guard !block.isEmpty else { throw Failure(.badInput, "not-a-playlist", "standard input is empty") }
        if block.starts(with: Array("#EXTM3U".utf8)) {
            try PrivateFiles.write(
                playlist([UInt8](block + InputFile.standardInput()), base: base),
                to: file.path
            )
            return nil
        }
        if ManifestRecognition([UInt8](block), isComplete: block.count < blockSize) == .manifest {
            let bytes = [UInt8](block + (try InputFile.standardInput()))
            guard bytes.count <= maximumPlaylistSize else {
                throw Failure(.failed, "too-large", "the manifest in standard input is larger than 64 MiB")
            }
            guard let base else {
                throw Failure(
                    .failed,
                    "relative-addresses",
                    "the base URL of the manifest in standard input is not known",
                    hint: "give it with --base-url URL"
                )
            }
            return PlayedManifest(address: base.resolving("standard-input.mpd"), bytes: bytes)
        }
        let output = try OutputDescriptor(creating: file.path)
        defer { output.close() }
        while !block.isEmpty {
            try output.write([UInt8](block))
            block = try InputFile.block(upTo: blockSize)
        }
        return nil
    }

    private static func playlist(_ bytes: [UInt8], base: ResourceAddress?) throws -> [UInt8] {
        guard bytes.count <= maximumPlaylistSize else {
            throw Failure(.failed, "too-large", "the playlist in standard input is larger than 64 MiB")
        }
        let playlist = try PlaylistSource.playlist(bytes, address: base, name: "-")
        if base != nil {
            // The file that is played is local, and may name files.
            if let reason = playlist.refusalReason {
                throw Failure(.badInput, PlaylistParsingError.Code.notAPlaylist.rawValue, "standard input: \(reason)")
            }
            return try playlist.withAbsoluteAddresses(limits: .init()).definingExternalVariables().bytes
        }
        let addresses: [ResourceAddress] =
            switch playlist {
            case .media(let media): media.segments.prefix(1).map(\.address)
            case .multivariant(let multivariant): multivariant.variants.prefix(1).map(\.address)
            }
        guard addresses.allSatisfy(\.isAbsolute) else {
            throw Failure(
                .failed,
                "relative-addresses",
                "the playlist in standard input has relative URLs",
                hint: "give their base with --base-url URL"
            )
        }
        return bytes
    }
}

/// A DASH manifest that is played at a URL at which it is not published, so that its relative URLs are resolved.
struct PlayedManifest: Sendable {
    let address: ResourceAddress
    let bytes: [UInt8]

    /// Returns a loader that answers requests for the manifest.
    func overlaid(on loader: ResourceLoader) -> ResourceLoader {
        loader.wrappingTransport { Overlay(manifest: self, base: $0) }
    }

    private struct Overlay: Transport {
        let manifest: PlayedManifest
        let base: any Transport

        var executor: (any TaskExecutor)? { base.executor }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            guard request.address == manifest.address else { return try await base.send(request) }
            return TransportResponse(
                status: 200,
                headers: [HeaderField("Content-Type", "application/dash+xml")],
                address: manifest.address,
                expectedLength: Int64(clamping: manifest.bytes.count),
                body: TransportBody(manifest.bytes)
            )
        }
    }
}

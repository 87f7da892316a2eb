import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

/// Finds out what an address leads to: a playlist or a file.
///
/// It goes by the first bytes, not by names or by what a server calls it; of a film, no more than its beginning is loaded.
struct SourceOpening: Sendable {
    /// What it must be.
    enum Kind: Sendable {
        case playlist, file

        /// What a media type says (RFC 8216bis §4, RFC 3003).
        init(mimeType: String) {
            let essence = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
            let playlists: Set = [
                "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
            ]
            self = playlists.contains(essence) ? .playlist : .file
        }
    }

    /// What was found.
    enum Opened: Sendable {
        /// A playlist, and where it was found.
        case playlist(Playlist, ResourceAddress)
        /// Something else: its beginning, where it was found, and how large it is.
        case file(head: [UInt8], ResourceAddress, length: Int64?)
    }

    let fetch: ResourceFetch
    /// What it must be; `nil` to go by its first bytes.
    var kind: Kind?
    /// What a playlist may import.
    var variables: [String: String] = [:]

    /// So much of a file is looked at.
    private static let headSize = 64 << 10

    /// Opens an address.
    ///
    /// - Throws: ``StreamingError`` where it is a playlist that says nothing; `TransportError`, `CancellationError`.
    func open(_ address: ResourceAddress) async throws -> (opened: Opened, request: ResourceRequest) {
        let request = TransportRequest(address, kind: .playlist)
        var began = fetch.time.now
        let (bytes, response, isWhole) = try await fetch.retrying(request, &began) { response, _ in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                guard Int64(bytes.count) <= ResourceLoading.playlistLimit.bytes else {
                    throw TransportError(.tooLarge, "the playlist is larger than it may be", address: response.address)
                }
                guard bytes.count >= Self.headSize, kind != .playlist else { continue }
                if kind == .file || ForeignContent(bytes) != nil { return (bytes, response, false) }
            }
            return (bytes, response, true)
        }
        let fetched = FetchedResource(
            bytes: ByteBuffer(bytes: bytes),
            address: response.address,
            contentType: response.header("Content-Type"),
            measurement: response.record.measurement,
            began: began,
            ended: fetch.time.now,
            status: response.status
        )
        var report = ResourceRequest(.mediaPlaylist, request, fetched)
        let length = isWhole ? Int64(bytes.count) : response.expectedLength
        if kind == .file {
            report.kind = .other
            return (.file(head: bytes, response.address, length: length), report)
        }
        let context = PlaylistContext(address: response.address, importableVariables: variables)
        do {
            let playlist = try Playlist.parse(bytes, context: context)
            if case .multivariant = playlist { report.kind = .multivariantPlaylist }
            return (.playlist(playlist, response.address), report)
        } catch {
            report.kind = .other
            guard case .notAPlaylist(let content) = error, kind == nil else {
                throw StreamingError(.unreadablePlaylist, "\(error)", address: address, cause: error)
            }
            if content == .dashManifest {
                throw StreamingError(
                    .needsTranslation,
                    "this is a DASH manifest; translate it to HLS first, as `millstream translate` and `serve` do",
                    address: address
                )
            }
            let isMedia = content == .movie || content == .transportStream
            guard isMedia || (content == nil && !isWhole) || ForeignMedia(bytes) != nil else {
                let what = content.map { " (\($0.rawValue))" } ?? ""
                throw StreamingError(
                    .notRecognized,
                    "this\(what) is neither a playlist nor a media file: "
                        + "as a playlist, \(error); as a file, no kind of container was recognized",
                    address: address,
                    cause: error
                )
            }
            return (.file(head: bytes, response.address, length: length), report)
        }
    }
}

/// Kinds of media files that begin otherwise than those of streams.
private enum ForeignMedia {
    case packedAudio

    init?(_ bytes: [UInt8]) {
        guard bytes.count > 4 else { return nil }
        let isID3 = bytes.starts(with: "ID3".utf8)
        let isFrame = bytes[0] == 0xFF && bytes[1] & 0xE0 == 0xE0
        let isDolby = bytes[0] == 0x0B && bytes[1] == 0x77
        let isNamed = ["fLaC", "OggS", "RIFF"].contains { bytes.starts(with: $0.utf8) }
        let isMatroska = bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3])
        guard isID3 || isFrame || isDolby || isNamed || isMatroska else { return nil }
        self = .packedAudio
    }
}

import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import SegmentFormat

/// A media file, represented as a playlist that the engine can play.
struct OpenedFile: Sendable {
    /// The playlist with the byte ranges of the file as segments.
    let playlist: MediaPlaylist
    /// The sample timestamp that corresponds to zero on the timeline.
    let firstTimestamp: MediaTime
    /// A Boolean value that indicates whether the byte ranges may begin within a frame.
    let isCutAnywhere: Bool
}

/// Reads the index of a media file and represents it as a media playlist with byte ranges of a few seconds each.
struct FileOpening: Sendable {
    let fetch: ResourceFetch

    /// The maximum number of bytes that are loaded to find the index of a file.
    private static let mostBytes: Int64 = 256 << 20
    /// The maximum length of the playlist for a file, in bytes.
    static let mostPlaylistBytes = 64 << 20

    /// The maximum duration of a segment of a file, 31 years: a playlist can represent shorter ones to the nanosecond.
    private static let longestDuration = MediaTime(seconds: 1_000_000_000)

    /// Creates the playlist for a file.
    ///
    /// - Parameters:
    ///   - head: The beginning of the file.
    ///   - address: The URL of the file.
    ///   - length: The size of the file in bytes, or `nil` if it is unknown.
    /// - Returns: A VOD playlist whose byte ranges cover the media of the file.
    /// - Throws: ``StreamingError`` if the file is not a supported media file, is damaged or declares an excessive
    ///   duration; `TransportError`, `CancellationError`.
    func open(_ head: [UInt8], at address: ResourceAddress, length: Int64?) async throws -> OpenedFile {
        guard var index = MediaFileIndex(head: head, length: length) else {
            throw StreamingError(
                .notRecognized,
                "this is neither a playlist nor a media file: as a playlist, it has no EXTM3U; as a file, "
                    + "no kind of container was recognized",
                address: address
            )
        }
        var loaded: Int64 = 0
        while case .needs(let range) = index.state {
            loaded +|= range.length
            guard loaded <= Self.mostBytes else {
                throw StreamingError(
                    .damaged,
                    "the file says nowhere near its beginning what it holds",
                    address: address
                )
            }
            let request = TransportRequest(address, kind: .other, byteRange: range)
            let fetched = try await fetch.load(request, limit: ByteCount(range.length))
            index.add(Array(fetched.bytes.readableBytesView))
        }
        guard case .ready(let timeline) = index.state else {
            throw StreamingError(.damaged, "the file could not be read", address: address)
        }
        guard !timeline.pieces.isEmpty else {
            throw StreamingError(
                .damaged,
                timeline.problem.map { "the file holds nothing that can be played: \($0)" }
                    ?? "the file holds no media",
                address: address
            )
        }
        guard timeline.pieces.allSatisfy({ $0.timeRange.duration <= Self.longestDuration }) else {
            throw StreamingError(
                .damaged,
                "the file declares a duration of more than \(Self.longestDuration) seconds",
                address: address
            )
        }
        return OpenedFile(
            playlist: try playlist(of: timeline, at: address, length: length),
            firstTimestamp: timeline.firstTimestamp,
            isCutAnywhere: timeline.cuts == .approximate
        )
    }

    /// Returns a URL that is valid in a playlist.
    ///
    /// Quotation marks, spaces, control characters, braces and non-ASCII bytes are percent-encoded: a quotation mark
    /// would end the attribute, a line break the line, and `{$` would begin a variable reference.
    private static func spelled(_ address: ResourceAddress) -> String {
        address.text.utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x00...0x20, 0x22, 0x7B, 0x7D, 0x7F...:
                text += "%" + String(Int(byte) | 0x100, radix: 16).suffix(2).uppercased()
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }

    private func playlist(
        of timeline: MediaFileTimeline,
        at address: ResourceAddress,
        length: Int64?
    ) throws -> MediaPlaylist {
        let durations = timeline.pieces.map(\.timeRange.duration)
        let longest = durations.max() ?? .zero
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        text += "#EXT-X-TARGETDURATION:\(max(1, Int64(saturating: longest.seconds.rounded(.up))))\n"
        let name = Self.spelled(address)
        // Each segment contains the URL of the file.
        guard timeline.pieces.count <= Self.mostPlaylistBytes.dividedSaturated(by: name.utf8.count + 100) else {
            throw StreamingError(
                .unsupported,
                "the address is too long for a file of \(timeline.pieces.count) pieces",
                address: address
            )
        }
        if let initialization = timeline.initialization {
            text += "#EXT-X-MAP:URI=\"\(name)\",BYTERANGE=\"\(initialization.length)@\(initialization.start)\"\n"
        }
        for (piece, duration) in zip(timeline.pieces, durations) {
            text +=
                "#EXTINF:\(duration),\n#EXT-X-BYTERANGE:\(piece.byteRange.length)@\(piece.byteRange.start)\n\(name)\n"
        }
        text += "#EXT-X-ENDLIST\n"
        guard
            case .media(let playlist) = try Playlist.parse(Array(text.utf8), context: PlaylistContext(address: address))
        else { throw StreamingError(.damaged, "the file could not be read", address: address) }
        return playlist
    }
}

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
    /// The container format.
    let container: MediaContainer
    /// The sample timestamp that corresponds to zero on the timeline.
    let firstTimestamp: MediaTime
    /// A Boolean value that indicates whether the byte ranges may begin within a frame.
    let beginsWithinFrames: Bool
    /// The tracks of the file; empty if they are not read for its container format.
    let tracks: [MediaTrack]
    /// The title, the artist, the album and the artwork, as far as the file has them.
    let metadata: MediaFileMetadata
    /// The media that is missing at the end of the file; `nil` if it has all the media that its index lists, or if its size is unknown.
    let shortfall: Shortfall?
    /// A clause about damage of a file that is not incomplete, such as a box with an impossible size; `nil` if none was found.
    let problem: String?
    /// The number of bytes that are read before a segment for subtitles in progress, by the byte range that is read.
    ///
    /// A byte range without an entry starts with its segment.
    var earlierLengths: [ByteRange: Int64] = [:]

    /// The media that the index of a file lists after the end of the file, as in a file whose transfer was aborted.
    struct Shortfall: Sendable, Hashable {
        /// The number of bytes that are missing.
        let length: Int64
        /// The accuracy of ``length``.
        let accuracy: MediaFileTimeline.MissingLengthAccuracy
        /// The approximate duration of the media in the file.
        let availableDuration: MediaTime
        /// The duration that the index declares; that of the media up to the end of the last unit if the duration of what
        /// follows is unknown.
        let declaredDuration: MediaTime

        /// Returns the error that reports the shortfall.
        func error(at address: ResourceAddress) -> StreamingError {
            let total = accuracy == .minimum ? "" : " of \(Self.text(declaredDuration))"
            let durations =
                declaredDuration > .zero ? "it has about \(Self.text(availableDuration))\(total) s, and " : ""
            return StreamingError(
                .incompleteFile,
                "the file ends early: \(durations)\(accuracy.text(length))",
                address: address
            )
        }

        private static func text(_ time: MediaTime) -> String {
            let tenths = Int64(saturating: (time.seconds * 10).rounded())
            return "\(tenths / 10).\(tenths.magnitude % 10)"
        }
    }
}

/// A reader of the index of a media file, which represents the file as a media playlist with byte ranges of a few
/// seconds each.
struct MediaFileOpener: Sendable {
    let fetch: ResourceFetcher
    /// A Boolean value that indicates whether a segment also contains the subtitles that began earlier and are in
    /// progress at its start.
    ///
    /// After a seek, these subtitles are shown at once. The media between them and the segment is read again, which
    /// takes a long time over a network.
    var readsEarlierSubtitles = false

    /// The maximum number of bytes that are loaded to find the index of a file; 256 MiB by default.
    var maximumIndexSize = MediaFileIndexer.maximumIndexSize

    /// The maximum length of the playlist for a file, in bytes.
    static let maximumPlaylistSize = 64 << 20

    /// The maximum length of the playlist for this file, in bytes; 64 MiB by default.
    var maximumPlaylistSize = MediaFileOpener.maximumPlaylistSize

    /// The maximum duration of a segment of a file, about 31 years.
    ///
    /// A playlist can represent shorter durations to the nanosecond.
    private static let maximumSegmentDuration = MediaTime(seconds: 1_000_000_000)

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
        guard var index = MediaFileIndexer(head: head, length: length) else {
            throw StreamingError(
                .notRecognized,
                "this is neither a playlist (it does not begin with #EXTM3U) nor a media file in a known format",
                address: address
            )
        }
        var loaded: Int64 = 0
        while case .needsBytes(let range) = index.state {
            loaded +|= range.length
            guard loaded <= maximumIndexSize else {
                throw StreamingError(
                    .unreadableFile,
                    "the index of the file (such as the moov box) was not found in the first 256 MiB that were loaded",
                    address: address
                )
            }
            let request = TransportRequest(address, kind: .other, byteRange: range)
            let fetched = try await fetch.load(request, limit: ByteCount(range.length))
            index.add(Array(fetched.bytes.readableBytesView))
        }
        guard case .ready(var timeline) = index.state else {
            throw StreamingError(.unreadableFile, "the media file could not be parsed", address: address)
        }
        if timeline.container == .isoBaseMedia, let error = timeline.error {
            try Self.verifyHasMovie(error, at: address)
        }
        guard !timeline.segments.isEmpty else {
            throw StreamingError(
                .invalidFile,
                timeline.error.map { "the file contains no playable media: \($0)" }
                    ?? "the file contains no media",
                address: address,
                cause: timeline.error
            )
        }
        guard timeline.segments.allSatisfy({ $0.timeRange.duration <= Self.maximumSegmentDuration }) else {
            throw StreamingError(
                .invalidFile,
                "the file declares a duration of more than \(Self.maximumSegmentDuration) seconds",
                address: address
            )
        }
        let shortfall = Self.removeMissingMedia(from: &timeline, length: length)
        guard !timeline.segments.isEmpty else {
            throw StreamingError(
                .invalidFile,
                "the file ends before its media: only its index is there",
                address: address
            )
        }
        return OpenedFile(
            playlist: try playlist(of: timeline, at: address),
            container: timeline.container,
            firstTimestamp: timeline.firstTimestamp,
            beginsWithinFrames: timeline.boundaryAccuracy == .approximate,
            tracks: timeline.tracks,
            metadata: timeline.metadata,
            shortfall: shortfall,
            problem: shortfall == nil ? timeline.sizeProblem ?? timeline.damage : nil,
            earlierLengths: readsEarlierSubtitles ? Self.earlierLengths(in: timeline) : [:]
        )
    }

    /// Verifies that an error of a file does not concern its movie box, without which nothing in the file can be played.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - address: The URL of the file.
    /// - Throws: ``StreamingError``.
    static func verifyHasMovie(_ error: MediaFormatError, at address: ResourceAddress) throws {
        switch error {
        case .truncated("moov"):
            throw StreamingError(
                .incompleteFile,
                "the file ends early: its index (the moov box) is missing or incomplete",
                address: address,
                cause: error
            )
        case .unfinished("moov"):
            throw StreamingError(
                .incompleteFile,
                "the file is incomplete: it lacks its index (the moov box), because its recording did not finish",
                address: address,
                cause: error
            )
        case .missing("moov"):
            throw StreamingError(
                .invalidFile,
                "the file has no index (moov box); if it is a segment of a stream, open the playlist of the stream",
                address: address,
                cause: error
            )
        case .truncated, .missing, .unfinished, .malformed, .tooLarge: break
        }
    }

    /// The minimum duration of a segment within which a file ends; a shorter one, which can consist of a header, is not
    /// played.
    private static let minimumRestDuration = MediaTime(value: 1, timescale: 10)

    /// Removes the segments that begin after the end of a file that was cut off, and shortens the segment in which it ends.
    ///
    /// The duration of the shortened segment is that of its bytes at its average bit rate, so that playback does not
    /// continue without media.
    ///
    /// - Parameters:
    ///   - timeline: The timeline of the file.
    ///   - length: The size of the file in bytes, or `nil` if it is unknown.
    /// - Returns: What is missing; `nil` if the file is complete or its length is unknown.
    static func removeMissingMedia(
        from timeline: inout MediaFileTimeline,
        length: Int64?
    ) -> OpenedFile.Shortfall? {
        guard let length, let missingLength = timeline.missingLength(inFileOfLength: length),
            let declaredDuration = timeline.segments.last?.timeRange.end
        else { return nil }
        while let last = timeline.segments.last, last.byteRange.start >= length { timeline.segments.removeLast() }
        var available = timeline.segments.last?.timeRange.end ?? .zero
        if let last = timeline.segments.last, last.byteRange.end > length,
            let rest = ByteRange(start: last.byteRange.start, length: length -| last.byteRange.start)
        {
            let fraction = Double(rest.length) / Double(max(1, last.byteRange.length))
            let duration = MediaTime(approximating: last.timeRange.duration.seconds * fraction) ?? .zero
            timeline.segments.removeLast()
            if duration >= Self.minimumRestDuration || timeline.segments.isEmpty {
                let range = MediaTimeRange(start: last.timeRange.start, duration: duration)
                timeline.segments.append(MediaFileSegment(timeRange: range, byteRange: rest))
            }
            available = timeline.segments.last?.timeRange.end ?? .zero
        }
        return OpenedFile.Shortfall(
            length: missingLength,
            accuracy: timeline.missingLengthAccuracy,
            availableDuration: available,
            declaredDuration: declaredDuration
        )
    }

    /// Returns the number of bytes that are read before each segment for subtitles in progress, by the byte range that
    /// is read.
    ///
    /// - Parameter timeline: The timeline of the file.
    /// - Returns: The numbers, of which none is zero.
    static func earlierLengths(in timeline: MediaFileTimeline) -> [ByteRange: Int64] {
        var lengths: [ByteRange: Int64] = [:]
        for segment in timeline.segments {
            let range = segment.byteRangeWithEarlierSubtitles
            let length = segment.byteRange.start -| range.start
            if length > 0 { lengths[range] = length }
        }
        return lengths
    }

    /// Returns the playlist of a timeline, whose segments are byte ranges of the file.
    ///
    /// - Parameters:
    ///   - timeline: The timeline of the file.
    ///   - address: The URL of the file.
    /// - Returns: The playlist.
    /// - Throws: ``StreamingError`` if the playlist would be longer than ``maximumPlaylistSize``.
    func playlist(of timeline: MediaFileTimeline, at address: ResourceAddress) throws -> MediaPlaylist {
        let durations = timeline.segments.map(\.timeRange.duration)
        let longest = durations.max() ?? .zero
        var text = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        text += "#EXT-X-TARGETDURATION:\(max(1, Int64(saturating: longest.seconds.rounded(.up))))\n"
        let name = address.playlistText
        // Each segment contains the URL of the file.
        guard timeline.segments.count <= maximumPlaylistSize.dividedSaturated(by: name.utf8.count + 100) else {
            throw StreamingError(
                .unsupported,
                "the URL is too long for a file of \(timeline.segments.count) segments",
                address: address
            )
        }
        if let initialization = timeline.initializationRange {
            text += "#EXT-X-MAP:URI=\"\(name)\",BYTERANGE=\"\(initialization.length)@\(initialization.start)\"\n"
        }
        for (segment, duration) in zip(timeline.segments, durations) {
            let bytes = readsEarlierSubtitles ? segment.byteRangeWithEarlierSubtitles : segment.byteRange
            text += "#EXTINF:\(duration),\n#EXT-X-BYTERANGE:\(bytes.length)@\(bytes.start)\n\(name)\n"
        }
        text += "#EXT-X-ENDLIST\n"
        guard
            case .media(let playlist) = try Playlist.parse(Array(text.utf8), context: PlaylistContext(address: address))
        else { throw StreamingError(.unreadableFile, "the media file could not be parsed", address: address) }
        return playlist
    }
}

package import MediaTiming

/// The presentation timeline of a media file, divided into segments with byte ranges.
package struct MediaFileTimeline: Sendable, Hashable {
    /// The container format of the file.
    package var container: MediaContainer
    /// The duration of the timeline; `nil` if it is unknown.
    package var duration: MediaTime?
    /// The tracks of the file; empty if they are not read for its container format.
    package var tracks: [MediaTrack]
    /// The title, the artist, the album and the artwork, as far as the file has them.
    package var metadata = MediaFileMetadata()
    /// The segments of the file in order, from time zero to ``duration``.
    ///
    /// If the duration is unknown, there is a single segment with an empty time range; if the length of the file is
    /// also unknown, there is no segment.
    package var segments: [MediaFileSegment]
    /// The byte range that a decoder requires before any segment; `nil` if there is none.
    ///
    /// For ISO base media this is `moov`, for FLAC the metadata blocks, for WAV the header.
    package var initializationRange: ByteRange?
    /// The timestamp in the file that corresponds to time zero of the timeline, with the edit list applied.
    package var firstTimestamp: MediaTime
    /// The accuracy of the segment boundaries.
    package var boundaryAccuracy: BoundaryAccuracy
    /// A Boolean value that indicates whether sample tables in the initialization section give the offsets of the
    /// samples.
    ///
    /// The segments then state which bytes are required for which time range, but a demultiplexer cannot process a
    /// segment alone: it needs random access to the whole file.
    package var isProgressive: Bool
    /// A Boolean value that indicates whether the duration is estimated from the bit rate of parts of the file.
    package var isDurationEstimated: Bool
    /// The error due to which the timeline is less complete than possible; `nil` if the file was read without errors.
    package var error: MediaFormatError?
    /// A clause about a box of an MP4 file whose size is impossible, although the media was found; `nil` if there is none.
    package var sizeProblem: String?
    /// A clause about damage of a Matroska file before its media, although the media was found; `nil` if there is none.
    package var damage: String?

    /// The meaning of ``missingLength(inFileOfLength:)``.
    package var missingLengthAccuracy = MissingLengthAccuracy.exact

    /// The accuracy of the number of bytes that are missing at the end of a file.
    package enum MissingLengthAccuracy: Sendable, Hashable {
        /// The container declares its entire length.
        case exact
        /// The number is estimated from the duration that is missing.
        case estimated
        /// Only the length of the unit within which the file ends is known, such as a box or a page.
        case minimum

        /// Returns a clause about the number of bytes that are missing, such as “its last 3 MB are missing”.
        package func text(_ length: Int64) -> String {
            switch self {
            case .exact: "its last \(ByteCount(length)) are missing"
            case .estimated: "about \(ByteCount(length)) are missing at its end"
            case .minimum: "at least \(ByteCount(length)) are missing at its end"
            }
        }
    }

    /// Returns the number of bytes that are missing at the end of a file of a length; `nil` for none, or for an unknown length.
    package func missingLength(inFileOfLength length: Int64?) -> Int64? {
        guard let length, let end = segments.map(\.byteRange.end).max(), end > length else { return nil }
        return end -| length
    }

    /// The accuracy of segment boundaries.
    package enum BoundaryAccuracy: Sendable, Hashable {
        /// Each segment starts with a unit that can be decoded independently, at the stated time.
        case exact
        /// Segments may start in the middle of a frame, and their times are approximate.
        ///
        /// Consecutive segments must be passed to the same demultiplexer; after a seek, it starts with the first
        /// complete frame.
        case approximate
    }

    /// Creates a timeline that has a container format but no tracks or segments.
    package init(container: MediaContainer) {
        self.container = container
        tracks = []
        segments = []
        firstTimestamp = .zero
        boundaryAccuracy = .exact
        isProgressive = false
        isDurationEstimated = false
    }
}

extension MediaFileTimeline {
    /// Adds a segment after the end of the file, with the media that is missing up to ``duration``.
    ///
    /// - Parameters:
    ///   - time: The end of the media in the file.
    ///   - length: The number of bytes that are missing.
    ///   - accuracy: The accuracy of this number.
    mutating func addMissingEnd(from time: MediaTime, length: Int64, _ accuracy: MissingLengthAccuracy) {
        guard let end = segments.last?.byteRange.end, let bytes = ByteRange(start: end, length: length) else { return }
        let range = MediaTimeRange(start: time, end: max(time, duration ?? time))
        segments.append(MediaFileSegment(timeRange: range, byteRange: bytes))
        missingLengthAccuracy = accuracy
    }

    /// Divides the segment within which the file ends, so that the missing media is a segment of its own.
    ///
    /// - Parameters:
    ///   - length: The length of the file, in bytes.
    ///   - time: The end of the media in the file; ignored if it is not within the segment.
    mutating func divideLastSegment(at length: Int64, _ time: MediaTime) {
        guard segments.count < Movie.maximumSegmentCount,
            let index = segments.firstIndex(where: { $0.byteRange.start < length && $0.byteRange.end > length })
        else { return }
        let (range, bytes) = (segments[index].timeRange, segments[index].byteRange)
        guard time > range.start, time < range.end,
            let existing = ByteRange(start: bytes.start, length: length -| bytes.start),
            let missing = ByteRange(start: length, length: bytes.end -| length)
        else { return }
        segments[index] = MediaFileSegment(
            timeRange: MediaTimeRange(start: range.start, end: time),
            byteRange: existing
        )
        segments.insert(
            MediaFileSegment(timeRange: MediaTimeRange(start: time, end: range.end), byteRange: missing),
            at: index + 1
        )
    }

    /// Creates a timeline with a single segment that contains the whole file.
    init(wholeFile container: MediaContainer, length: Int64?, duration: MediaTime? = nil) {
        self.init(container: container)
        self.duration = duration
        if let length, length > 0, let bytes = ByteRange(start: 0, length: length) {
            segments = [
                MediaFileSegment(timeRange: MediaTimeRange(start: .zero, duration: duration ?? .zero), byteRange: bytes)
            ]
        }
    }
}

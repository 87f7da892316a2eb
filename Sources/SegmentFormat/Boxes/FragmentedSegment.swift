package import MediaTiming

/// The parsed boxes of a fragmented segment: an `.m4s` file, a CMAF chunk or a section of a fragmented file.
package struct FragmentedSegment: Sendable, Hashable {
    /// The brands of `styp`, starting with the major brand; empty without `styp`.
    package let brands: [FourCharacterCode]
    /// The movie that the segment contains; `nil` if it contains none.
    package let movie: Movie?
    /// The segment indexes.
    package let indexes: [SegmentIndex]
    /// The movie fragments.
    package let fragments: [MovieFragment]
    /// The event messages.
    package let events: [EventMessage]
    /// The producer reference times.
    package let referenceTimes: [ProducerReferenceTime]
    /// A Boolean value that indicates whether the segment is truncated, or some of its data could not be parsed.
    ///
    /// Also `true` if the segment has more than ``maximumBoxCount`` boxes.
    package let isIncomplete: Bool

    /// The maximum number of top-level boxes that are read.
    package static let maximumBoxCount = 100_000

    /// Creates a segment from all top-level boxes of bytes that start at `fileOffset` in their file.
    ///
    /// - Parameters:
    ///   - bytes: A segment, complete or truncated.
    ///   - fileOffset: The offset of its first byte in the file.
    ///   - movie: The initialization section, which provides timescales; a `moov` box in the bytes replaces it.
    package init(_ bytes: Span<UInt8>, fileOffset: Int64 = 0, movie: Movie? = nil) {
        var brands: [FourCharacterCode] = []
        var movie = movie
        var ownMovie: Movie?
        var indexes: [SegmentIndex] = []
        var fragments: [MovieFragment] = []
        var events: [EventMessage] = []
        var times: [ProducerReferenceTime] = []
        var isDamaged = false
        var walker = BoxIterator(0..<bytes.count, in: bytes)
        var boxes = 0
        var end = 0
        while boxes < Self.maximumBoxCount, let box = walker.next(bytes) {
            boxes += 1
            end = box.range.upperBound
            let position = box.range.lowerBound
            do throws(MediaFormatError) {
                switch box.type {
                case .styp where brands.isEmpty: brands = Self.brands(box, bytes)
                case .moov:
                    ownMovie = try Movie(bytes, at: position)
                    movie = ownMovie
                case .sidx: indexes.append(try SegmentIndex(bytes, at: position, fileOffset: fileOffset))
                case .moof:
                    fragments.append(try MovieFragment(bytes, at: position, fileOffset: fileOffset, movie: movie))
                case .emsg: events.append(try EventMessage(bytes, at: position))
                case .prft: times.append(try ProducerReferenceTime(bytes, at: position))
                default: break
                }
            } catch {
                isDamaged = true
            }
            if box.isTruncated { isDamaged = true }
        }
        self.brands = brands
        self.movie = ownMovie
        self.indexes = indexes
        self.fragments = fragments
        self.events = events
        referenceTimes = times
        self.isIncomplete = isDamaged || end < bytes.count
    }

    /// Returns the presentation time range of a track in all fragments, without the edit list; `nil` if it is unknown.
    package func timeRange(of trackID: UInt32) -> MediaTimeRange? {
        var start: MediaTime?
        var end: MediaTime?
        for fragment in fragments {
            guard let track = fragment.track(trackID), let first = track.presentationTime, let length = track.duration
            else { continue }
            start = min(start ?? first, first)
            end = max(end ?? first, first + length)
        }
        guard let start, let end else { return nil }
        return MediaTimeRange(start: start, end: end)
    }

    private static func brands(_ box: Box, _ bytes: Span<UInt8>) -> [FourCharacterCode] {
        var cursor = ByteCursor(box.payload, in: bytes)
        var brands = [cursor.readFourCharacterCode(bytes)]
        cursor.skip(4)
        while cursor.remaining >= 4, brands.count < 64 { brands.append(cursor.readFourCharacterCode(bytes)) }
        return cursor.isPastEnd ? [] : brands
    }
}

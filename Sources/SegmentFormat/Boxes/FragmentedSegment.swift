public import MediaTiming

/// What the boxes of a fragmented segment say: a `.m4s` file, a CMAF chunk, or a piece of a fragmented file.
public struct FragmentedSegment: Sendable, Hashable {
    /// The brands of `styp`, the major one first; empty without.
    public let brands: [FourCharacterCode]
    /// The movie, where the segment brings its own.
    public let movie: Movie?
    /// The indexes.
    public let indexes: [SegmentIndex]
    /// The fragments.
    public let fragments: [MovieFragment]
    /// The events.
    public let events: [EventMessage]
    /// The producer's clock.
    public let referenceTimes: [ProducerReferenceTime]
    /// Whether the last box goes on behind the bytes, or one of the boxes could not be read.
    public let isDamaged: Bool

    /// Further boxes at the top are not read.
    public static let mostBoxes = 100_000

    /// Reads all boxes at the top of bytes that begin at `fileOffset` of their file.
    ///
    /// - Parameters:
    ///   - bytes: A segment, whole or cut.
    ///   - fileOffset: Where its first byte stands in the file.
    ///   - movie: The initialization section, which gives timescales; a `moov` in the bytes takes its place.
    public init(_ bytes: Span<UInt8>, fileOffset: Int64 = 0, movie: Movie? = nil) {
        var brands: [FourCharacterCode] = []
        var movie = movie
        var ownMovie: Movie?
        var indexes: [SegmentIndex] = []
        var fragments: [MovieFragment] = []
        var events: [EventMessage] = []
        var times: [ProducerReferenceTime] = []
        var isDamaged = false
        var walker = BoxWalker(0..<bytes.count, in: bytes)
        var boxes = 0
        var end = 0
        while boxes < Self.mostBoxes, let box = walker.next(bytes) {
            boxes += 1
            end = box.range.upperBound
            let place = box.range.lowerBound
            do throws(MediaFormatError) {
                switch box.type {
                case .styp where brands.isEmpty: brands = Self.brands(box, bytes)
                case .moov:
                    ownMovie = try Movie(bytes, at: place)
                    movie = ownMovie
                case .sidx: indexes.append(try SegmentIndex(bytes, at: place, fileOffset: fileOffset))
                case .moof:
                    fragments.append(try MovieFragment(bytes, at: place, fileOffset: fileOffset, movie: movie))
                case .emsg: events.append(try EventMessage(bytes, at: place))
                case .prft: times.append(try ProducerReferenceTime(bytes, at: place))
                default: break
                }
            } catch {
                isDamaged = true
            }
            if box.isCut { isDamaged = true }
        }
        self.brands = brands
        self.movie = ownMovie
        self.indexes = indexes
        self.fragments = fragments
        self.events = events
        referenceTimes = times
        self.isDamaged = isDamaged || end < bytes.count
    }

    /// The presentation time of a track in all fragments together, before edits; `nil` where it is not known.
    public func timeRange(of trackID: UInt32) -> MediaTimeRange? {
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
        var brands = [cursor.code(bytes)]
        cursor.skip(4)
        while cursor.remaining >= 4, brands.count < 64 { brands.append(cursor.code(bytes)) }
        return cursor.isPastEnd ? [] : brands
    }
}

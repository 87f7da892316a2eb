public import MediaTiming

/// A movie fragment, `moof` (ISO/IEC 14496-12 §8.8.4).
public struct MovieFragment: Sendable, Hashable {
    /// The box itself, counted from the start of the file.
    public let byteRange: ByteRange
    /// Its number among the fragments of a file; `nil` without `mfhd`.
    public let sequenceNumber: UInt32?
    /// What it holds of each track; at most ``Movie/mostTracks``.
    public let tracks: [Track]

    /// The track fragment of a track.
    public func track(_ id: UInt32) -> Track? { tracks.first { $0.id == id } }

    /// What a fragment holds of one track, `traf` (§8.8.6).
    public struct Track: Sendable, Hashable {
        /// Which track.
        public let id: UInt32
        /// Units a second; `nil` where the movie was not handed in or does not have the track.
        public let timescale: UInt32?
        /// The decode time of the first sample, in units of the track (`tfdt`); `nil` where it is not said.
        public let baseDecodeTime: UInt64?
        /// How long all samples are, in units of the track; `nil` where only the movie says it and was not handed in.
        public let durationUnits: UInt64?
        /// What to add to ``baseDecodeTime`` for the earliest presentation time, in units of the track.
        public let earliestCompositionOffset: Int64
        /// How many samples there are.
        public let sampleCount: Int64
        /// Whether the first sample can be decoded without others; `nil` where there is none or nothing says so.
        public let isFirstSampleSync: Bool?

        /// The decode time of the first sample; `nil` where it or the timescale is not known.
        public var decodeTime: MediaTime? {
            guard let timescale, let baseDecodeTime else { return nil }
            return .units(baseDecodeTime, per: timescale)
        }

        /// The earliest presentation time of the samples, before edits.
        public var presentationTime: MediaTime? {
            guard let timescale, let decodeTime else { return nil }
            return decodeTime + .units(earliestCompositionOffset, per: timescale)
        }

        /// How long all samples are; `nil` where the duration or the timescale is not known.
        public var duration: MediaTime? {
            guard let timescale, let durationUnits else { return nil }
            return .units(durationUnits, per: timescale)
        }
    }

    /// Reads the box at a place in bytes that begin at `fileOffset` of the file.
    ///
    /// The movie gives timescales and what fragments leave out; without it those are `nil`. Throws ``MediaFormatError``
    /// where no whole `moof` stands there, where a run claims more samples than it has bytes for, and where samples
    /// claim more than 64 bits of time.
    public init(
        _ bytes: Span<UInt8>,
        at offset: Int = 0,
        fileOffset: Int64 = 0,
        movie: Movie? = nil
    ) throws(MediaFormatError) {
        var walker = BoxWalker(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .moof else { throw .missing("moof") }
        guard !box.isCut else { throw .truncated("moof") }
        guard
            let range = ByteRange(
                start: max(0, fileOffset).addingSaturated(Int64(box.range.lowerBound)),
                length: Int64(box.range.count)
            )
        else { throw .malformed("place of moof") }
        byteRange = range

        var number: UInt32?
        var tracks: [Track] = []
        var children = BoxWalker(box.payload, in: bytes)
        while let child = children.next(bytes) {
            switch child.type {
            case .mfhd:
                var (_, _, cursor) = child.fields(bytes)
                let value = cursor.uint32(bytes)
                if !cursor.isPastEnd { number = value }
            case .traf:
                guard tracks.count < Movie.mostTracks else { throw .tooLarge("moof") }
                tracks.append(try Track(child, movie: movie, bytes))
            default:
                break
            }
        }
        sequenceNumber = number
        self.tracks = tracks
    }
}

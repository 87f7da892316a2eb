package import MediaTiming

/// A movie fragment box, `moof` (ISO/IEC 14496-12 §8.8.4).
package struct MovieFragment: Sendable, Hashable {
    /// The byte range of the box, relative to the start of the file.
    package let byteRange: ByteRange
    /// The sequence number of the fragment; `nil` without `mfhd`.
    package let sequenceNumber: UInt32?
    /// The track fragments; at most ``Movie/maximumTrackCount``.
    package let tracks: [Track]

    /// Returns the first track fragment of the track with the given ID, or `nil` if there is none.
    package func track(_ id: UInt32) -> Track? { tracks.first { $0.id == id } }

    /// A summary of the samples of one track in a fragment, `traf` (§8.8.6).
    package struct Track: Sendable, Hashable {
        /// The track ID.
        package let id: UInt32
        /// The timescale of the track, in units per second; `nil` if no movie was given or it does not contain the
        /// track.
        package let timescale: UInt32?
        /// The decode time of the first sample, in units of the timescale (`tfdt`); `nil` if it is missing.
        package let baseDecodeTime: UInt64?
        /// The total duration of the samples, in units of the timescale; `nil` if it depends on a movie that was not
        /// given.
        package let durationUnits: UInt64?
        /// The offset from ``baseDecodeTime`` to the earliest presentation time, in units of the timescale.
        package let earliestCompositionOffset: Int64
        /// The number of samples.
        package let sampleCount: Int64
        /// A Boolean value that indicates whether the first sample is a sync sample; `nil` without samples or sample
        /// flags.
        package let isFirstSampleSync: Bool?

        /// The decode time of the first sample; `nil` if it or the timescale is unknown.
        package var decodeTime: MediaTime? {
            guard let timescale, let baseDecodeTime else { return nil }
            return .units(baseDecodeTime, per: timescale)
        }

        /// The earliest presentation time of the samples, without the edit list; `nil` if unknown.
        package var presentationTime: MediaTime? {
            guard let timescale, let decodeTime else { return nil }
            return decodeTime + .units(earliestCompositionOffset, per: timescale)
        }

        /// The total duration of the samples; `nil` if it or the timescale is unknown.
        package var duration: MediaTime? {
            guard let timescale, let durationUnits else { return nil }
            return .units(durationUnits, per: timescale)
        }
    }

    /// Creates a fragment from the `moof` box at `offset` in bytes that start at `fileOffset` in the file.
    ///
    /// The movie provides the timescales and the default values of samples; without it these are `nil`. Throws
    /// ``MediaFormatError`` if there is no complete `moof` box at the offset, it has more than ``Movie/maximumTrackCount``
    /// track fragments, a `tfhd` is missing or incomplete, a run declares more samples than it has bytes for, or the
    /// sum of the sample durations exceeds 64 bits.
    package init(
        _ bytes: Span<UInt8>,
        at offset: Int = 0,
        fileOffset: Int64 = 0,
        movie: Movie? = nil
    ) throws(MediaFormatError) {
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .moof else { throw .missing("moof") }
        guard !box.isTruncated else { throw .truncated("moof") }
        guard
            let range = ByteRange(
                start: max(0, fileOffset).addingSaturated(Int64(box.range.lowerBound)),
                length: Int64(box.range.count)
            )
        else { throw .malformed("offset of moof") }
        byteRange = range

        var number: UInt32?
        var tracks: [Track] = []
        var children = BoxIterator(box.payload, in: bytes)
        while let child = children.next(bytes) {
            switch child.type {
            case .mfhd:
                var (_, _, cursor) = child.fullBoxFields(in: bytes)
                let value = cursor.readUInt32(bytes)
                if !cursor.isPastEnd { number = value }
            case .traf:
                guard tracks.count < Movie.maximumTrackCount else { throw .tooLarge("moof") }
                tracks.append(try Track(child, movie: movie, bytes))
            default:
                break
            }
        }
        sequenceNumber = number
        self.tracks = tracks
    }
}

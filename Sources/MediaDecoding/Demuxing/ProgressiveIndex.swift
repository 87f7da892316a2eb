import CFFmpeg
import MediaTiming
import SegmentFormat

/// An index that assigns the samples of a progressive movie to the segments that ``Movie/segments(minimumDuration:in:)`` returns.
///
/// The samples of a movie are listed once; those of a segment are then found by binary search.
struct ProgressiveIndex {
    struct Track {
        let id: UInt32
        let samples: [ProgressiveSample]
        fileprivate let kind: MediaTrack.MediaType
        /// A Boolean value that indicates whether segments start at samples of this track.
        fileprivate let determinesSegments: Bool
        fileprivate let timescale: Int64
        /// The offset from media time to the movie timeline.
        fileprivate let offset: MediaTime
        /// The first presentation time, before the edit list is applied, that is no longer presented, in units of the
        /// track timescale.
        fileprivate let endTime: Int64?
        /// The indices of the samples at which a segment can start, in presentation order; `nil` if it can start at the
        /// decode time of any sample.
        fileprivate let segmentStartIndices: [Int]?
    }

    /// A position between samples, possibly inside of an element that represents several samples.
    struct Position: Comparable {
        let index: Int
        /// The number of samples of the element at ``index`` that precede the position.
        var sampleOffset = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.index, left.sampleOffset) < (right.index, right.sampleOffset)
        }
    }

    let tracks: [Track]
    /// The approximate memory of the index, in bytes.
    var byteCount: Int { tracks.reduce(0) { $0 + $1.samples.count * MemoryLayout<ProgressiveSample>.stride } }
    private let duration: MediaTime

    /// Creates an index of all samples of a movie.
    ///
    /// - Parameters:
    ///   - movie: The movie.
    ///   - bytes: The bytes from which the movie was parsed.
    /// - Throws: ``DecodingError`` if all tracks together have more than ``ProgressiveSample/maximumCount`` samples, or
    ///   more than the tables of this length can plausibly list.
    init(_ movie: Movie, _ bytes: [UInt8]) throws(DecodingError) {
        duration = movie.sampleEndTime ?? .zero
        let filled = movie.tracks.filter { ($0.sampleTable?.sampleCount ?? 0) > 0 }
        let leading = filled.first { $0.mediaType == .video } ?? filled.first { $0.mediaType == .audio } ?? filled.first
        // The tables can describe a million samples of equal size in a few bytes, but list others individually.
        let maximumCount = min(ProgressiveSample.maximumCount, max(1_000_000, 4 * bytes.count))
        var left = maximumCount
        var tracks: [Track] = []
        for track in filled.prefix(SegmentDemuxer.maximumTrackCount) {
            guard let samples = track.samples(in: bytes.span, limit: left) else {
                throw DecodingError(status: .unsupported, operation: "the movie has more than \(maximumCount) samples")
            }
            left -= samples.count
            tracks.append(Track(track, samples, determinesSegments: track.id == leading?.id))
        }
        self.tracks = tracks
    }

    /// Returns the samples of a track that belong to a segment; consecutive segments contain each sample once.
    ///
    /// The first segment also contains all samples before it, the last segment all samples after it.
    func sampleRange(of track: Track, in segment: MediaTimeRange) -> Range<Position> {
        let (start, end) = (track.startPosition, track.endPosition)
        // Segments without duration precede the start of the edit list or follow its end.
        guard duration == .zero || segment.end > .zero && !isEnd(segment.start) else { return start..<start }
        let low = segment.start <= .zero ? start : track.position(of: exactStart(near: segment.start))
        let high = isEnd(segment.end) ? end : track.position(of: exactStart(near: segment.end))
        return low..<max(low, high)
    }

    /// The tolerance for the boundaries of segments, 0.1 ms: sums of durations in nanoseconds have rounding errors.
    fileprivate static let tolerance = MediaTime(value: 1, timescale: 10_000)

    private func isEnd(_ time: MediaTime) -> Bool {
        time >= duration - Self.tolerance && time <= duration + Self.tolerance
    }

    /// Returns the exact time of the sample that starts at the boundary of a segment; all tracks are split at this
    /// time.
    private func exactStart(near time: MediaTime) -> MediaTime {
        tracks.first(where: \.determinesSegments)?.exactStart(near: time) ?? time
    }
}

extension ProgressiveIndex.Track {
    fileprivate init(_ track: Movie.Track, _ samples: [ProgressiveSample], determinesSegments: Bool) {
        id = track.id
        kind = track.mediaType
        self.determinesSegments = determinesSegments
        self.samples = samples
        timescale = Int64(max(1, track.timescale))
        offset = track.firstEdit?.offset ?? .zero
        endTime = track.firstEdit.flatMap { edit in
            edit.duration.map { (edit.mediaTime + $0).unitsRoundedUp(per: Int64(track.timescale)) }
        }
        guard determinesSegments, let table = track.sampleTable,
            !table.isEverySampleSync || samples.contains(where: { $0.presentationTime != $0.decodeTime })
        else {
            segmentStartIndices = nil
            return
        }
        let syncs = samples.indices.filter { samples[$0].isSync }
        segmentStartIndices = syncs.sorted { (samples[$0].presentationTime, $0) < (samples[$1].presentationTime, $1) }
    }

    fileprivate var endPosition: ProgressiveIndex.Position { .init(index: samples.count) }

    /// The start of the first segment.
    ///
    /// For video, it is the last key frame that is presented at or before zero, because no earlier frame is presented.
    /// For audio, it is the first sample, because decoders need the samples before zero.
    fileprivate var startPosition: ProgressiveIndex.Position {
        guard kind == .video, let segmentStartIndices else { return .init(index: 0) }
        let zero = (.zero - offset).unitsRoundedUp(per: timescale)
        let behind = segmentStartIndices.partitioningIndex { samples[$0].presentationTime > zero }
        return .init(index: behind > 0 ? segmentStartIndices[behind - 1] : 0)
    }

    /// Returns the time of the sample at which a segment near the given time starts; the time itself if there is none.
    fileprivate func exactStart(near time: MediaTime) -> MediaTime {
        let units = (time - offset).units(in: AVRational(num: 1, den: Int32(clamping: timescale)))
        let tolerance = ProgressiveIndex.tolerance.value *| timescale / ProgressiveIndex.tolerance.timescale
        let (low, overflow) = units.subtractingReportingOverflow(tolerance)
        guard !overflow else { return time }
        let found: Int64
        if let segmentStartIndices {
            let key = segmentStartIndices.partitioningIndex { samples[$0].presentationTime >= low }
            guard key < segmentStartIndices.count else { return time }
            found = samples[segmentStartIndices[key]].presentationTime
        } else {
            let index = samples.indices.partitioningIndex { samples[$0].decodeTime >= low }
            if index > 0, samples[index - 1].count > 1 {
                // Between the samples of one element, every unit of the timescale is a boundary.
                found = units
            } else {
                guard index < samples.count else { return time }
                found = samples[index].decodeTime
            }
        }
        guard (Int128(found) -| Int128(units)).magnitude <= UInt128(clamping: tolerance) else { return time }
        return MediaTime(value: found, timescale: timescale) + offset
    }

    /// Returns the start of a segment other than the first one.
    fileprivate func position(of time: MediaTime) -> ProgressiveIndex.Position {
        let units = (time - offset).unitsRoundedUp(per: timescale)
        if let segmentStartIndices {
            let key = segmentStartIndices.partitioningIndex { samples[$0].presentationTime >= units }
            return key < segmentStartIndices.count ? .init(index: segmentStartIndices[key]) : endPosition
        }
        let index = samples.indices.partitioningIndex { samples[$0].decodeTime >= units }
        guard index > 0 else { return .init(index: 0) }
        let passed = samples[index - 1].count(before: units)
        return passed < samples[index - 1].count ? .init(index: index - 1, sampleOffset: passed) : .init(index: index)
    }

    /// Returns whether a sample is presented after the end of the edit list.
    func isAfterEnd(_ sample: ProgressiveSample) -> Bool { endTime.map { sample.presentationTime >= $0 } ?? false }

    /// Returns whether a sample is presented before the start of the movie timeline.
    func isBeforeZero(_ sample: ProgressiveSample) -> Bool {
        MediaTime(value: sample.presentationTime, timescale: timescale) + offset < .zero
    }
}

extension MediaTime {
    fileprivate func unitsRoundedUp(per timescale: Int64) -> Int64 {
        let (quotient, remainder) = (Int128(value) *| Int128(timescale))
            .quotientAndRemainder(dividingBy: Int128(self.timescale))
        return Int64(clamping: remainder > 0 ? quotient +| 1 : quotient)
    }
}

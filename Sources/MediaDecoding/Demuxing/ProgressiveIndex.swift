import CFFmpeg
import MediaTiming
import SegmentFormat

/// Which samples of a progressive movie belong to which of its pieces, as ``Movie/pieces(of:in:)`` cuts it.
///
/// The samples are listed once for a movie; those of a piece are then found by halving.
struct ProgressiveIndex {
    struct Track {
        let id: UInt32
        let samples: [ProgressiveSample]
        fileprivate let kind: MediaTrack.Kind
        /// Whether the movie is cut at its samples.
        fileprivate let isLeading: Bool
        fileprivate let timescale: Int64
        /// What is added to a time of the track for its place on the movie's timeline.
        fileprivate let offset: MediaTime
        /// The first presentation time, before edits, that is no longer shown.
        fileprivate let end: Int64?
        /// The samples that a piece can begin with, in the order of showing; `nil` where any can, at its decode time.
        fileprivate let keys: [Int]?
    }

    /// A place between samples: behind some of those that one value holds.
    struct Position: Comparable {
        let index: Int
        /// How many of the samples at the index lie before.
        var passed = 0

        static func < (left: Position, right: Position) -> Bool {
            (left.index, left.passed) < (right.index, right.passed)
        }
    }

    let tracks: [Track]
    /// About how much memory the index takes, in bytes.
    var byteCount: Int { tracks.reduce(0) { $0 + $1.samples.count * MemoryLayout<ProgressiveSample>.stride } }
    private let duration: MediaTime

    /// Lists the samples.
    ///
    /// - Parameters:
    ///   - movie: The movie.
    ///   - bytes: The bytes that it was read from.
    /// - Throws: ``DecodingError`` where there are more than ``ProgressiveSample/mostSamples`` in all tracks together.
    init(_ movie: Movie, _ bytes: [UInt8]) throws(DecodingError) {
        duration = movie.sampledDuration ?? .zero
        let filled = movie.tracks.filter { ($0.sampleTable?.sampleCount ?? 0) > 0 }
        let leading = filled.first { $0.kind == .video } ?? filled.first { $0.kind == .audio } ?? filled.first
        // A million samples of one size need no more than a few bytes; others are listed one by one.
        let most = min(ProgressiveSample.mostSamples, max(1_000_000, 4 * bytes.count))
        var left = most
        var tracks: [Track] = []
        for track in filled.prefix(SegmentDemuxer.mostTracks) {
            guard let samples = track.samples(in: bytes.span, atMost: left) else {
                throw DecodingError(.unsupported, "the movie has more than \(most) samples")
            }
            left -= samples.count
            tracks.append(Track(track, samples, isLeading: track.id == leading?.id))
        }
        self.tracks = tracks
    }

    /// The samples of a track that belong to a piece; pieces that follow each other have each sample once.
    ///
    /// All of them before the first piece belong to it, and all behind the last to that.
    func range(of track: Track, in piece: MediaTimeRange) -> Range<Position> {
        let (start, end) = (track.startPosition, track.endPosition)
        // Pieces of no length lie before what the edit list begins with, or behind its end.
        guard duration == .zero || piece.end > .zero && !isEnd(piece.start) else { return start..<start }
        let low = piece.start <= .zero ? start : track.position(of: exact(piece.start))
        let high = isEnd(piece.end) ? end : track.position(of: exact(piece.end))
        return low..<max(low, high)
    }

    /// The borders of pieces may be off by so much: adding up durations in nanoseconds loses some.
    fileprivate static let tolerance = MediaTime(value: 1, timescale: 10_000)

    private func isEnd(_ time: MediaTime) -> Bool {
        time >= duration - Self.tolerance && time <= duration + Self.tolerance
    }

    /// The time of the sample that is meant by the border of a piece: all tracks are cut there.
    private func exact(_ time: MediaTime) -> MediaTime {
        tracks.first(where: \.isLeading)?.exact(time) ?? time
    }
}

extension ProgressiveIndex.Track {
    fileprivate init(_ track: Movie.Track, _ samples: [ProgressiveSample], isLeading: Bool) {
        id = track.id
        kind = track.kind
        self.isLeading = isLeading
        self.samples = samples
        timescale = Int64(max(1, track.timescale))
        offset = track.edit?.offset ?? .zero
        end = track.edit.flatMap { edit in
            edit.duration.map { (edit.mediaTime + $0).unitsRoundedUp(per: Int64(track.timescale)) }
        }
        guard isLeading, let table = track.sampleTable,
            !table.isEverySampleSync || samples.contains(where: { $0.presentationTime != $0.decodeTime })
        else {
            keys = nil
            return
        }
        let syncs = samples.indices.filter { samples[$0].isSync }
        keys = syncs.sorted { (samples[$0].presentationTime, $0) < (samples[$1].presentationTime, $1) }
    }

    fileprivate var endPosition: ProgressiveIndex.Position { .init(index: samples.count) }

    /// Where the first piece begins: of pictures at the last key frame that is shown no later than zero, since none is seen
    /// of those before; of sound at the very first, which decoders need to start.
    fileprivate var startPosition: ProgressiveIndex.Position {
        guard kind == .video, let keys else { return .init(index: 0) }
        let zero = (.zero - offset).unitsRoundedUp(per: timescale)
        let behind = keys.partitioningIndex { samples[$0].presentationTime > zero }
        return .init(index: behind > 0 ? keys[behind - 1] : 0)
    }

    /// The time of the sample that a piece near a time begins with; the time itself where there is none.
    fileprivate func exact(_ time: MediaTime) -> MediaTime {
        let units = (time - offset).units(in: AVRational(num: 1, den: Int32(clamping: timescale)))
        let tolerance = ProgressiveIndex.tolerance.value *| timescale / ProgressiveIndex.tolerance.timescale
        let (low, overflow) = units.subtractingReportingOverflow(tolerance)
        guard !overflow else { return time }
        let found: Int64
        if let keys {
            let key = keys.partitioningIndex { samples[$0].presentationTime >= low }
            guard key < keys.count else { return time }
            found = samples[keys[key]].presentationTime
        } else {
            let index = samples.indices.partitioningIndex { samples[$0].decodeTime >= low }
            if index > 0, samples[index - 1].count > 1 {
                // Between samples that one value holds, each unit is a border.
                found = units
            } else {
                guard index < samples.count else { return time }
                found = samples[index].decodeTime
            }
        }
        guard (Int128(found) -| Int128(units)).magnitude <= UInt128(clamping: tolerance) else { return time }
        return MediaTime(value: found, timescale: timescale) + offset
    }

    /// Where a piece begins that does not begin at zero.
    fileprivate func position(of time: MediaTime) -> ProgressiveIndex.Position {
        let units = (time - offset).unitsRoundedUp(per: timescale)
        if let keys {
            let key = keys.partitioningIndex { samples[$0].presentationTime >= units }
            return key < keys.count ? .init(index: keys[key]) : endPosition
        }
        let index = samples.indices.partitioningIndex { samples[$0].decodeTime >= units }
        guard index > 0 else { return .init(index: 0) }
        let passed = samples[index - 1].count(before: units)
        return passed < samples[index - 1].count ? .init(index: index - 1, passed: passed) : .init(index: index)
    }

    /// Whether a sample is behind the end of what the edit list presents.
    func isBehindEnd(_ sample: ProgressiveSample) -> Bool { end.map { sample.presentationTime >= $0 } ?? false }

    /// Whether a sample begins before the movie's timeline does.
    func isBeforeZero(_ sample: ProgressiveSample) -> Bool {
        MediaTime(value: sample.presentationTime, timescale: timescale) + offset < .zero
    }
}

extension RandomAccessCollection where Index == Int {
    /// The first place whose element, and all behind it, fulfil a condition.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension MediaTime {
    fileprivate func unitsRoundedUp(per timescale: Int64) -> Int64 {
        let (quotient, remainder) = (Int128(value) *| Int128(timescale))
            .quotientAndRemainder(dividingBy: Int128(self.timescale))
        return Int64(clamping: remainder > 0 ? quotient +| 1 : quotient)
    }
}

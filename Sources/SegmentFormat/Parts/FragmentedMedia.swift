import MediaTiming

/// The samples of a fragmented MP4 segment, of which parts are written as movie fragments of their own.
struct FragmentedMedia {
    private struct Sample {
        let decodeTime: UInt64
        let values: TrackRun.Sample
        let data: Range<Int>
    }

    private struct Track {
        let id: UInt32
        /// The index of the sample entry; `nil` for the default value of the movie.
        let descriptionIndex: UInt32?
        var samples: [Sample] = []
        /// The decode time after the last sample.
        var end: UInt64 = 0
    }

    private let segment: [UInt8]
    private var tracks: [Track] = []
    /// The ranges of the boxes with which the first part begins.
    private var leading: [Range<Int>] = []
    private var sequenceNumber: UInt32 = 0
    /// The number of bytes of the segment that are not assigned to a sample yet.
    private var unusedBytes: Int
    /// The number of samples that can still be read, of all tracks together: no segment has more samples than bytes.
    private var remainingSamples: Int

    /// Creates the samples of a segment.
    ///
    /// - Parameters:
    ///   - segment: The bytes of the segment.
    ///   - initialization: The bytes of the initialization section; empty if there is none.
    /// - Throws: ``MediaFormatError`` if the segment is damaged or encrypted.
    init(_ segment: [UInt8], initialization: [UInt8]) throws(MediaFormatError) {
        self.segment = segment
        unusedBytes = segment.count
        remainingSamples = min(FragmentSample.maximumCount, segment.count)
        var movie = try Self.movie(in: initialization)
        if movie == nil { movie = try Self.movie(in: segment) }
        let bytes = segment.span
        var boxes = BoxIterator(0..<bytes.count, in: bytes)
        var isAfterFragment = false
        var count = 0
        while count < FragmentedSegment.maximumBoxCount, let box = boxes.next(bytes) {
            count += 1
            switch box.type {
            case .moof:
                isAfterFragment = true
                guard !box.isTruncated else { throw .truncated("moof") }
                try read(box, movie)
            case .emsg where !box.isTruncated: leading.append(box.range)
            case .styp where !isAfterFragment, .prft where !isAfterFragment, .ftyp where !isAfterFragment,
                .moov where !isAfterFragment:
                leading.append(box.range)
            default: break
            }
        }
        guard !tracks.isEmpty else { throw .missing("moof") }
    }

    private static func movie(in bytes: [UInt8]) throws(MediaFormatError) -> Movie? {
        guard let box = Box.first(.moov, in: bytes.span) else { return nil }
        return try Movie(bytes.span, at: box.range.lowerBound)
    }

    private mutating func read(_ fragment: Box, _ movie: Movie?) throws(MediaFormatError) {
        let segment = segment
        let bytes = segment.span
        var nextData = fragment.range.lowerBound
        var children = BoxIterator(fragment.payload, in: bytes)
        while let child = children.next(bytes) {
            switch child.type {
            case .mfhd where tracks.isEmpty:
                var (_, _, cursor) = child.fullBoxFields(in: bytes)
                sequenceNumber = cursor.readUInt32(bytes)
            case .traf: try readTrack(child, moof: fragment.range.lowerBound, &nextData, movie)
            default: break
            }
        }
    }

    private mutating func readTrack(
        _ box: Box,
        moof: Int,
        _ nextData: inout Int,
        _ movie: Movie?
    ) throws(MediaFormatError) {
        let segment = segment
        let bytes = segment.span
        guard box.firstChild(.senc, in: bytes) == nil, box.firstChild(.saiz, in: bytes) == nil else {
            throw .malformed("an encrypted segment, which cannot be divided into parts,")
        }
        let fragment = try TrackFragment(box, bytes) { movie?.track($0)?.fragmentDefaults }
        let index = try trackIndex(of: fragment.trackID, box)
        // The array is moved out of the track, so that appending does not copy it.
        var samples: [Sample] = []
        swap(&samples, &tracks[index].samples)
        let origin = fragment.dataOrigin(fragment: moof, previousEnd: nextData)
        var position = Int64(origin)
        var time = fragment.baseDecodeTime ?? tracks[index].end
        var unused = unusedBytes
        var remaining = remainingSamples
        try fragment.forEachRun(bytes) { run throws(MediaFormatError) in
            guard let run, run.isComplete, run.hasKnownDurations else { throw .truncated("trun") }
            if let offset = run.dataOffset { position = Int64(origin).addingSaturated(Int64(offset)) }
            try run.forEachSample(bytes) { sample throws(MediaFormatError) in
                let end = position.addingSaturated(Int64(sample.size))
                unused -|= Int(clamping: sample.size)
                remaining -|= 1
                guard position >= 0, end <= Int64(bytes.count), unused >= 0 else { throw .truncated("mdat") }
                guard remaining >= 0 else { throw .tooLarge("trun") }
                samples.append(Sample(decodeTime: time, values: sample, data: Int(position)..<Int(end)))
                position = end
                time = time.addingSaturated(UInt64(sample.duration))
                return true
            }
        }
        tracks[index].end = time
        swap(&samples, &tracks[index].samples)
        (unusedBytes, remainingSamples) = (unused, remaining)
        nextData = Int(clamping: position)
    }

    /// Returns the index of a track, which is added if it is new.
    private mutating func trackIndex(of id: UInt32, _ box: Box) throws(MediaFormatError) -> Int {
        let segment = segment
        let bytes = segment.span
        var description: UInt32?
        if let header = box.firstChild(.tfhd, in: bytes) {
            var (_, flags, cursor) = header.fullBoxFields(in: bytes)
            cursor.skip(flags & 0x1 != 0 ? 12 : 4)
            if flags & 0x2 != 0 { description = cursor.readUInt32(bytes) }
        }
        if let index = tracks.firstIndex(where: { $0.id == id }) {
            guard tracks[index].descriptionIndex == description else {
                throw .malformed("a segment with several sample descriptions of a track")
            }
            return index
        }
        guard tracks.count < Movie.maximumTrackCount else { throw .tooLarge("moof") }
        tracks.append(Track(id: id, descriptionIndex: description))
        return tracks.count - 1
    }

    // MARK: Parts

    /// Returns the parts of the segment, each a movie fragment with its media data.
    ///
    /// A part in which no track has samples, such as of subtitles, has a track fragment without samples.
    func parts(_ division: SegmentDivision) -> [[UInt8]] {
        let positions = tracks.map { track in
            let first = track.samples.first?.decodeTime ?? 0
            return division.positions(
                times: track.samples.map { $0.decodeTime.subtractingSaturated(first) },
                duration: track.end.subtractingSaturated(first)
            )
        }
        return (0..<division.partCount).map { number in
            let runs = zip(tracks, positions).map { track, positions in
                (track: track, samples: track.samples[positions[number]..<positions[number + 1]])
            }
            let filled = runs.flatMap { track, samples in
                Self.contiguousRuns(of: samples).map { (track: track, samples: $0) }
            }
            let start = number == 0 ? leading.flatMap { segment[$0] } : []
            return start
                + fragment(
                    filled.isEmpty ? Array(runs.prefix(1)) : filled,
                    number: sequenceNumber.addingSaturated(UInt32(clamping: number))
                )
        }
    }

    /// Returns samples in runs, each of which has no gap between the decode times of its samples.
    private static func contiguousRuns(of samples: ArraySlice<Sample>) -> [ArraySlice<Sample>] {
        var runs: [ArraySlice<Sample>] = []
        var start = samples.startIndex
        for position in samples.indices.dropFirst() {
            let previous = samples[position - 1]
            guard samples[position].decodeTime != previous.decodeTime.addingSaturated(UInt64(previous.values.duration))
            else { continue }
            runs.append(samples[start..<position])
            start = position
        }
        if start < samples.endIndex { runs.append(samples[start...]) }
        return runs
    }

    /// Returns a movie fragment and its media data (ISO/IEC 14496-12 §8.8).
    private func fragment(_ runs: [(track: Track, samples: ArraySlice<Sample>)], number: UInt32) -> [UInt8] {
        // 16 bytes for `mfhd`, and for each track the headers of `traf`, `tfhd`, `tfdt` and `trun`.
        let size = runs.reduce(8 + 16) { size, run in
            size + 8 + (run.track.descriptionIndex == nil ? 16 : 20) + 20 + 20 + run.samples.count *| 16
        }
        var offset = size + 8
        var tracks: [UInt8] = []
        var data: [UInt8] = []
        for (track, samples) in runs {
            tracks += Self.box(
                "traf",
                Self.header(of: track) + Self.time(of: samples, track) + Self.run(of: samples, offset)
            )
            for sample in samples { data += segment[sample.data] }
            offset = size + 8 + data.count
        }
        return Self.box("moof", Self.box("mfhd", Self.bytes(0) + Self.bytes(number)) + tracks) + Self.box("mdat", data)
    }

    private static func header(of track: Track) -> [UInt8] {
        // The flags are `default-base-is-moof`, and `sample-description-index-present`.
        let flags: UInt32 = 0x2_0000 | (track.descriptionIndex == nil ? 0 : 0x2)
        return box("tfhd", bytes(flags) + bytes(track.id) + (track.descriptionIndex.map(bytes) ?? []))
    }

    private static func time(of samples: ArraySlice<Sample>, _ track: Track) -> [UInt8] {
        let position = samples.startIndex
        let time = position < track.samples.count ? track.samples[position].decodeTime : track.end
        return box(
            "tfdt",
            bytes(0x0100_0000) + bytes(UInt32(clamping: time >> 32)) + bytes(UInt32(truncatingIfNeeded: time))
        )
    }

    private static func run(of samples: ArraySlice<Sample>, _ offset: Int) -> [UInt8] {
        // Version 1, with the data offset and the duration, size, flags and composition offset of each sample.
        var content = bytes(0x0100_0F01) + bytes(UInt32(clamping: samples.count)) + bytes(UInt32(clamping: offset))
        content.reserveCapacity(content.count +| samples.count *| 16)
        for sample in samples.lazy.map(\.values) {
            append(sample.duration, to: &content)
            append(sample.size, to: &content)
            append(sample.flags ?? 0, to: &content)
            append(UInt32(bitPattern: sample.compositionOffset), to: &content)
        }
        return box("trun", content)
    }

    private static func append(_ value: UInt32, to content: inout [UInt8]) {
        content.append(UInt8(truncatingIfNeeded: value >> 24))
        content.append(UInt8(truncatingIfNeeded: value >> 16))
        content.append(UInt8(truncatingIfNeeded: value >> 8))
        content.append(UInt8(truncatingIfNeeded: value))
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        bytes(UInt32(clamping: content.count +| 8)) + Array(type.utf8) + content
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        var content: [UInt8] = []
        append(value, to: &content)
        return content
    }
}

package import MediaTiming

extension Movie {
    /// The maximum number of segments into which a file is divided; segments become longer if more would be needed.
    package static let maximumSegmentCount = 20_000

    /// The end of the last sample of all tracks on the movie's timeline; `nil` if no track has samples.
    package var sampleEndTime: MediaTime? {
        tracks.compactMap { track in
            guard let table = track.sampleTable, table.sampleCount > 0 else { return nil }
            let length = min(track.firstEdit?.duration ?? table.duration, table.duration)
            guard let edit = track.firstEdit else { return length }
            let end = table.firstPresentationTime + table.duration
            return edit.emptyDuration + min(length, max(.zero, end - edit.mediaTime))
        }.max()
    }

    /// Divides a progressive file into segments that start at sync samples of the video track.
    ///
    /// Without a video track, the first audio track or else the first track is used. Each segment contains the samples
    /// of all tracks in its time range, including samples in progress at its start. Therefore the byte ranges of
    /// adjacent segments overlap slightly if the tracks are interleaved. Decoding a segment also requires the movie
    /// box.
    ///
    /// - Parameters:
    ///   - duration: The minimum duration of a segment, except for the last one.
    ///   - bytes: The bytes from which the movie was read.
    /// - Returns: The segments in order, from time zero to the end; empty if there are no samples.
    /// - Complexity: O(*n*) in the entries of the sample tables.
    package func segments(minimumDuration duration: MediaTime, in bytes: Span<UInt8>) -> [MediaFileSegment] {
        let tracks = tracks.filter { ($0.sampleTable?.sampleCount ?? 0) > 0 }
        guard
            let leading = tracks.first(where: { $0.mediaType == .video }) ?? tracks.first(where: {
                $0.mediaType == .audio
            })
                ?? tracks.first, let table = leading.sampleTable, let end = sampleEndTime
        else { return [] }
        let cuts = Self.segmentStarts(table, minimumDuration: duration, bytes)

        let offset = leading.firstEdit?.offset ?? .zero
        var starts: [MediaTime] = []
        for cut in cuts {
            // Samples presented before the first sync sample, or before time zero, belong to the first segment.
            let time = starts.isEmpty ? .zero : .units(cut.presentationTime, per: leading.timescale) + offset
            starts.append(max(time, starts.last ?? .zero))
        }

        var extents = [Range<Int64>?](repeating: nil, count: cuts.count)
        var subtitles = [[Int64]](repeating: [], count: cuts.count)
        for track in tracks {
            guard let table = track.sampleTable else { continue }
            if track.id == leading.id {
                Self.extendExtents(table, samples: cuts.map(\.sample), &extents, bytes)
            } else {
                let offset = track.firstEdit?.offset ?? .zero
                let isText = track.mediaType == .subtitles
                let times = starts.map { $0 - offset }
                Self.extendExtents(table, times: times, isText: isText, &extents, bytes)
                guard isText else { continue }
                let emptySize = track.mediaTrack.codec == "wvtt" ? Self.emptyCueSize : Self.emptyTextSize
                Self.addSubtitles(table, inProgressAt: times, emptySize: emptySize, to: &subtitles, bytes)
            }
        }
        return cuts.indices.compactMap { index in
            let next = index + 1 < starts.count ? starts[index + 1] : max(end, starts[index])
            guard let extent = extents[index],
                let bytes = ByteRange(start: extent.lowerBound, length: extent.upperBound -| extent.lowerBound)
            else { return nil }
            var segment = MediaFileSegment(
                timeRange: MediaTimeRange(start: starts[index], end: next),
                byteRange: bytes
            )
            let nearest = extent.lowerBound.subtractingSaturated(MediaFileSegment.maximumSubtitleDistance)
            segment.earlierSubtitleOffset = subtitles[index].filter { $0 < extent.lowerBound && $0 >= nearest }.min()
            return segment
        }
    }
}

extension Movie {
    private struct SegmentStart {
        let sample: Int64
        let presentationTime: Int64
    }

    /// Returns the samples with which the segments start.
    private static func segmentStarts(
        _ table: SampleTable,
        minimumDuration duration: MediaTime,
        _ bytes: Span<UInt8>
    ) -> [SegmentStart] {
        let total = table.duration.units(per: table.timescale)
        // Bounded: the divisor is a positive constant.
        let length = max(1, duration.units(per: table.timescale), total / Int64(maximumSegmentCount))
        var clock = SampleTimeIterator(table)
        var cuts = [SegmentStart(sample: 0, presentationTime: clock.presentationTime(of: 0, bytes))]
        var lastTime = clock.decodeTime(of: 0, bytes)
        guard let sync = table.syncSamples else {
            while cuts.count < maximumSegmentCount {
                let sample = clock.sample(notBefore: lastTime.addingSaturated(length), bytes)
                guard sample < table.sampleCount else { break }
                lastTime = clock.decodeTime(of: sample, bytes)
                cuts.append(SegmentStart(sample: sample, presentationTime: clock.presentationTime(of: sample, bytes)))
            }
            return cuts
        }
        var last: Int64 = 0
        for index in 0..<sync.count where cuts.count < maximumSegmentCount {
            let sample = Int64(bytes.uint32(at: sync.offset(of: index))) -| 1
            guard sample > last, sample < table.sampleCount else { continue }
            last = sample
            let time = clock.decodeTime(of: sample, bytes)
            guard time.subtractingSaturated(lastTime) >= length else { continue }
            lastTime = time
            cuts.append(SegmentStart(sample: sample, presentationTime: clock.presentationTime(of: sample, bytes)))
        }
        return cuts
    }

    private static func extendExtents(
        _ table: SampleTable,
        samples: [Int64],
        _ extents: inout [Range<Int64>?],
        _ bytes: Span<UInt8>
    ) {
        var walk = SampleExtentIterator(table)
        for index in samples.indices {
            let next = index + 1 < samples.count ? samples[index + 1] : table.sampleCount
            if let extent = walk.advance(to: next, bytes) { extents[index] = extent.joined(with: extents[index]) }
        }
    }

    /// Extends the extents of tracks that are divided by time; a sample in progress at a boundary belongs to both
    /// segments.
    ///
    /// Subtitles have samples without text between their cues (ETSI TS 126 245 §5.17), which can have begun much
    /// earlier in the file; these are not needed. The byte range of a segment does not contain cues that began more
    /// than a segment earlier either; see ``MediaFileSegment/earlierSubtitleOffset``.
    private static func extendExtents(
        _ table: SampleTable,
        times: [MediaTime],
        isText: Bool,
        _ extents: inout [Range<Int64>?],
        _ bytes: Span<UInt8>
    ) {
        var walk = SampleExtentIterator(table)
        var clock = SampleTimeIterator(table)
        var hadSamples = false
        for index in times.indices {
            if index > 0, let reaching = walk.lastSampleRange,
                !isText || (hadSamples && (reaching.upperBound -| reaching.lowerBound) > Self.emptyTextSize)
            {
                extents[index] = reaching.joined(with: extents[index])
            }
            var next = table.sampleCount
            if index + 1 < times.count {
                next = clock.sample(notBefore: times[index + 1].units(per: table.timescale), bytes)
            }
            let extent = walk.advance(to: next, bytes)
            hadSamples = extent != nil
            if let extent { extents[index] = extent.joined(with: extents[index]) }
        }
    }

    /// Adds the offsets of the samples with text that are in progress at the starts of segments.
    private static func addSubtitles(
        _ table: SampleTable,
        inProgressAt times: [MediaTime],
        emptySize: Int64,
        to offsets: inout [[Int64]],
        _ bytes: Span<UInt8>
    ) {
        var walk = SampleExtentIterator(table)
        var clock = SampleTimeIterator(table)
        let end = table.duration.units(per: table.timescale)
        for index in times.indices.dropFirst() {
            let time = times[index].units(per: table.timescale)
            _ = walk.advance(to: clock.sample(notBefore: time, bytes), bytes)
            guard time < end, let sample = walk.lastSampleRange,
                (sample.upperBound -| sample.lowerBound) > emptySize
            else { continue }
            offsets[index].append(sample.lowerBound)
        }
    }

    /// The size of a subtitle sample without text, which consists of the length of the text.
    private static let emptyTextSize: Int64 = 2
    /// The size of a WebVTT sample without a cue, which consists of an empty box (ISO/IEC 14496-30 §6.6).
    private static let emptyCueSize: Int64 = 8
}

extension Range<Int64> {
    fileprivate func joined(with other: Range<Int64>?) -> Range<Int64> {
        guard let other else { return self }
        return Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

import MediaTiming

/// A reader that determines the duration of packed audio from a length header, the bit rate or a sample of its frames.
struct AudioFileReader: MediaFileReader {
    private let minimumSegmentDuration: MediaTime
    private var start: Int64 = 0
    private var tagCount = 0
    private var timestamp: UInt64?
    private var metadata = MediaFileMetadata()
    private var first: PackedAudioSummary?
    /// The file offset of the first frame.
    private var firstFrame: Int64 = 0
    private var information: MPEGAudioInfoFrame?
    private var exactSegments: (segments: [MediaFileSegment], duration: MediaTime)?
    private var probes: [Int64]?
    private var probeResults: [(place: Int64, secondsPerByte: Double)] = []
    /// A Boolean value that indicates whether the file ends within a frame; `nil` until its end is read.
    private var endsWithinFrame: Bool?

    private static let minimumWindowSize = 16 << 10
    private static let windowSize = 64 << 10
    private static let probeSize = 24 << 10
    private static let maximumProbeCount: Int64 = 8

    init(_ minimumSegmentDuration: MediaTime) {
        self.minimumSegmentDuration = minimumSegmentDuration
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        if let needed = readTags(file) ?? readFirstFrames(file) ?? readProbes(file) ?? readEnd(file) { return needed }
        return .ready(makeTimeline(from: file))
    }

    /// Reads the ID3 tags, which may contain images of several megabytes; larger tags than those are skipped.
    private mutating func readTags(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        while first == nil, tagCount < 16 {
            guard let found = file.loadedBytes(at: start, count: 10) else {
                return file.request(at: start, count: Self.windowSize)
            }
            guard let header = ID3Tag.Header(found.bytes.span, at: found.offset) else { break }
            if start +| Int64(header.byteCount) <= Int64(MediaFileMetadata.maximumSize) {
                guard let whole = file.loadedBytes(at: start, count: header.byteCount) else {
                    // The first frames, which are read next, are requested at the same time.
                    return file.request(at: start, count: header.byteCount + Self.windowSize)
                }
                if let tag = ID3Tag(whole.bytes.span, at: whole.offset) {
                    timestamp = timestamp ?? tag.transportTimestamp
                    metadata.addMissing(from: MediaFileMetadata(tag))
                }
            }
            start +|= Int64(header.byteCount)
            tagCount += 1
        }
        return nil
    }

    private mutating func readFirstFrames(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard first == nil, !file.ends(at: start) else { return nil }
        guard let found = file.loadedBytes(at: start, count: Self.minimumWindowSize) else {
            return file.request(at: start, count: Self.windowSize)
        }
        // All loaded bytes are used, even if they exceed a window.
        let window = found.offset == 0 ? found.bytes : Array(found.bytes[found.offset...])
        guard let summary = PackedAudioSummary(window.span) else { return nil }
        first = summary
        firstFrame = start.addingSaturated(Int64(summary.firstFrameOffset))
        if summary.firstFrame.container == .mpegAudio {
            let end = min(window.count, summary.firstFrameOffset + summary.firstFrame.frameLength)
            information = MPEGAudioInfoFrame(window.span.extracting(summary.firstFrameOffset..<end))
        }
        if file.ends(at: start +| Int64(window.count)) {
            exactSegments = segments(window, summary)
        }
        return nil
    }

    /// Reads frames at several positions, because the size of AAC and MP3 frames may vary within a file.
    private mutating func readProbes(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard let first, exactSegments == nil, information?.frameCount == nil, let length = file.length,
            first.firstFrame.container == .aac || first.firstFrame.container == .mpegAudio
        else { return nil }
        var probes =
            self.probes
            ?? {
                let count = min(Self.maximumProbeCount, (length -| firstFrame) / (256 << 10))
                return stride(from: count, to: 0, by: -1).map {
                    // Bounded: the count is not negative.
                    firstFrame +| (length -| firstFrame) / (count +| 1) *| $0
                }
            }()
        defer { self.probes = probes }
        while let position = probes.last {
            let count = min(Self.probeSize, Int(clamping: length -| position))
            guard let found = file.loadedBytes(at: position, count: count) else {
                return file.request(at: position, count: count)
            }
            probes.removeLast()
            let window = Array(found.bytes[found.offset..<found.offset + min(count, found.count)])
            guard let summary = PackedAudioSummary(window.span), summary.frameByteCount > 0,
                summary.firstFrame.container == first.firstFrame.container
            else { continue }
            probeResults.append((position, summary.duration.seconds / Double(summary.frameByteCount)))
        }
        return nil
    }
}

// MARK: Files that end early

extension AudioFileReader {
    /// Reads the end of a file that is shorter than its description declares; returns a request if more bytes are required.
    private mutating func readEnd(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard endsWithinFrame == nil, let first, let length = file.length, length > firstFrame, let declaredEnd,
            declaredEnd > length
        else { return nil }
        let start = max(firstFrame, length -| Int64(Self.probeSize))
        let count = Int(clamping: length -| start)
        guard let found = file.loadedBytes(at: start, count: count) else {
            return file.request(at: start, count: count)
        }
        endsWithinFrame = Self.endsWithinFrame(
            found.bytes.span,
            found.offset..<min(found.offset +| count, found.bytes.count),
            of: first.firstFrame.container
        )
        return nil
    }

    /// The end of the last frame according to the description of the file; `nil` if it does not declare its size.
    private var declaredEnd: Int64? { information?.byteCount.map { firstFrame +| Int64($0) } }

    /// The end of the last frame according to the description of a file whose end was cut off; `nil` for other files.
    ///
    /// Programs that cut a file between two frames, or that remove tags from its end, can leave the description unchanged.
    private var missingEnd: Int64? { endsWithinFrame == true ? declaredEnd : nil }

    /// Returns a Boolean value that indicates whether a part of a file ends within an audio frame.
    private static func endsWithinFrame(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        of container: MediaContainer
    ) -> Bool {
        guard let first = AudioFrameHeader.firstFrame(in: bytes, from: range.lowerBound, within: 4_096) else {
            return false
        }
        var offset = first.offset
        while offset < range.upperBound {
            guard let header = AudioFrameHeader(bytes, at: offset), header.container == container else {
                // A tag can follow the last frame, of which less than a header is no part of a tag.
                return range.upperBound - offset < AudioFrameHeader.maximumLength && bytes[offset] == 0xFF
            }
            offset += max(1, header.frameLength)
        }
        return offset > range.upperBound
    }
}

extension AudioFileReader {
    /// Returns segments that start with complete frames, and the duration of the audio, for a file that is loaded completely.
    ///
    /// The times are those at which a decoder plays the samples: without those that precede and follow the audio.
    private func segments(
        _ bytes: [UInt8],
        _ summary: PackedAudioSummary
    ) -> (segments: [MediaFileSegment], duration: MediaTime) {
        var builder = MediaFileSegmentBuilder(minimumSegmentDuration)
        var offset = summary.firstFrameOffset
        var samples = Int64(information?.delay ?? 0).negatedSaturated()
        // A file that was joined from several has the description of the first one.
        let hasDeclaredFrames = information?.frameCount.map { summary.frameCount -| 1 <= Int(clamping: $0) } ?? false
        let declaredCount = information?.sampleCount(samplesPerFrame: summary.firstFrame.samplesPerFrame)
        let lastSample = hasDeclaredFrames ? declaredCount ?? .max : .max
        let rate = Int64(summary.firstFrame.sampleRate)
        while offset < bytes.count {
            guard let header = AudioFrameHeader(bytes.span, at: offset),
                header.container == summary.firstFrame.container, header.frameLength <= bytes.count - offset
            else {
                offset += 1
                continue
            }
            let end = offset + header.frameLength
            // The frame that describes the file has no samples.
            let isDescription = information != nil && offset == summary.firstFrameOffset
            let count = isDescription ? 0 : Int64(header.samplesPerFrame)
            let time = max(0, min(samples, lastSample))
            builder.appendFragment(
                MediaTimeRange(
                    start: MediaTime(value: time, timescale: rate),
                    end: MediaTime(value: max(0, min(samples +| count, lastSample)), timescale: rate)
                ),
                from: start +| Int64(offset),
                to: start +| Int64(end),
                canStartSegment: count > 0 && samples < lastSample
            )
            samples +|= count
            offset = end
        }
        return (builder.makeSegments().pieces, builder.timeEnd ?? .zero)
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        guard let first else {
            var timeline = MediaFileTimeline(wholeFile: .id3, length: file.length)
            timeline.error = .missing("audio frame")
            return timeline
        }
        var timeline = MediaFileTimeline(wholeFile: first.firstFrame.container, length: file.length)
        timeline.tracks = [first.mediaTrack]
        timeline.metadata = metadata
        if let timestamp { timeline.firstTimestamp = TimestampUnwrapper.mediaTime(of: Int64(clamping: timestamp)) }
        if let exactSegments {
            timeline.duration = exactSegments.duration
            timeline.segments = exactSegments.segments
            if let missingEnd, let end = exactSegments.segments.last?.byteRange.end {
                timeline.duration = max(exactSegments.duration, declaredDuration(first) ?? .zero)
                timeline.addMissingEnd(from: exactSegments.duration, length: missingEnd -| end, .exact)
            }
            return timeline
        }
        timeline.boundaryAccuracy = .approximate
        if let declared = declaredDuration(first) {
            timeline.duration = declared
        } else if let length = file.length {
            timeline.isDurationEstimated = true
            timeline.duration = estimate(length, first)
        }
        guard let length = file.length, let duration = timeline.duration else { return timeline }
        // The segments of a file that ends early include the missing ones.
        timeline.segments = map(first, missingEnd ?? length, duration).segments(duration: minimumSegmentDuration)
        return timeline
    }

    /// Returns the duration of the frames that the description of the file declares; `nil` if it declares none.
    private func declaredDuration(_ first: PackedAudioSummary) -> MediaTime? {
        guard let frameCount = information?.frameCount else { return nil }
        let samples = information?.sampleCount(samplesPerFrame: first.firstFrame.samplesPerFrame)
        return samples.map { MediaTime(value: $0, timescale: Int64(first.firstFrame.sampleRate)) }
            ?? first.firstFrame.duration * Int64(frameCount)
    }

    private func estimate(_ length: Int64, _ first: PackedAudioSummary) -> MediaTime? {
        guard first.frameByteCount > 0 else { return nil }
        let bytes = max(0, length -| firstFrame)
        let perByte = first.duration.seconds / Double(first.frameByteCount)
        let headerRate = first.firstFrame.bitRate.map { 8 / Double($0.bitsPerSecond) }
        let all = [perByte] + probeResults.map(\.secondsPerByte)
        // If all frames have the bit rate of the first header, that rate is exact; the average of a window is not.
        if let headerRate, all.allSatisfy({ abs($0 / headerRate - 1) < 0.005 }) {
            return MediaTime(approximating: Double(bytes) * headerRate)
        }
        return MediaTime(approximating: Double(bytes) * all.reduce(0, +) / Double(all.count))
    }

    /// Returns a map between time and file offset, from the length header's table or the positions that were read.
    private func map(_ first: PackedAudioSummary, _ length: Int64, _ duration: MediaTime) -> TimeByteMap {
        var map = TimeByteMap(start: firstFrame, end: length, duration: duration)
        if let table = information?.seekTable, !table.isEmpty {
            let bytes = information?.byteCount.map(Int64.init) ?? length -| firstFrame
            for (percent, part) in table.enumerated() where percent > 0 {
                map.insert(
                    duration.scaled(by: MediaTime(value: Int64(percent), timescale: 100)),
                    at: firstFrame +| bytes / 256 *| Int64(part)
                )
            }
            return map
        }
        guard probeResults.count > 1 else { return map }
        // Each position represents the bytes around it; the durations are scaled so that their sum is the total
        // duration.
        let total = probeResults.reduce(0) { $0 + $1.secondsPerByte }
        var time = MediaTime.zero
        var byte = firstFrame
        // Bounded: there are at least two samples here.
        let part = (length -| firstFrame) / Int64(probeResults.count)
        for sample in probeResults.dropLast() {
            guard let step = MediaTime(approximating: duration.seconds * sample.secondsPerByte / total) else { break }
            time = time + step
            byte +|= part
            map.insert(time, at: byte)
        }
        return map
    }
}

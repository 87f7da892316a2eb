import MediaTiming

/// A reader that determines the duration of packed audio from a length header, the bit rate or a sample of its frames.
struct AudioFileReading: FileReading {
    private let pieceDuration: MediaTime
    private var start: Int64 = 0
    private var tagCount = 0
    private var timestamp: UInt64?
    private var first: PackedAudioSummary?
    /// The file offset of the first frame.
    private var firstFrame: Int64 = 0
    private var lengthHeader: AudioLengthHeader?
    private var exact: [MediaFilePiece]?
    private var probes: [Int64]?
    private var samples: [(place: Int64, secondsPerByte: Double)] = []

    private static let leastWindowBytes = 16 << 10
    private static let windowBytes = 64 << 10
    private static let probeBytes = 24 << 10
    private static let mostProbes: Int64 = 8

    init(_ pieceDuration: MediaTime) {
        self.pieceDuration = pieceDuration
    }

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State {
        if let needed = readTags(file) ?? readFirstFrames(file) ?? readProbes(file) { return needed }
        return .ready(settle(file))
    }

    /// Skips ID3 tags, which may contain images of several megabytes; only small tags are parsed.
    private mutating func readTags(_ file: FileBytes) -> MediaFileIndex.State? {
        while first == nil, tagCount < 16 {
            guard let found = file.found(at: start, 10) else { return file.request(start, Self.windowBytes) }
            guard let header = ID3Tag.Header(found.bytes.span, at: found.offset) else { break }
            if header.byteCount <= 4_096, let whole = file.found(at: start, header.byteCount) {
                timestamp = timestamp ?? ID3Tag(whole.bytes.span, at: whole.offset)?.transportTimestamp
            }
            start +|= Int64(header.byteCount)
            tagCount += 1
        }
        return nil
    }

    private mutating func readFirstFrames(_ file: FileBytes) -> MediaFileIndex.State? {
        guard first == nil, !file.ends(at: start) else { return nil }
        guard let found = file.found(at: start, Self.leastWindowBytes) else {
            return file.request(start, Self.windowBytes)
        }
        // All loaded bytes are used, even if they exceed a window.
        let window = found.offset == 0 ? found.bytes : Array(found.bytes[found.offset...])
        guard let summary = PackedAudioSummary(window.span) else { return nil }
        first = summary
        firstFrame = start.addingSaturated(Int64(summary.firstFrameOffset))
        lengthHeader = AudioLengthHeader(summary.firstFrame, window.span, at: summary.firstFrameOffset)
        if file.ends(at: start +| Int64(window.count)) {
            exact = Self.pieces(of: pieceDuration, window, summary, start)
        }
        return nil
    }

    /// Reads frames at several positions, because the size of AAC and MP3 frames may vary within a file.
    private mutating func readProbes(_ file: FileBytes) -> MediaFileIndex.State? {
        guard let first, exact == nil, lengthHeader == nil, let length = file.length,
            first.firstFrame.container == .aac || first.firstFrame.container == .mpegAudio
        else { return nil }
        var probes =
            self.probes
            ?? {
                let count = min(Self.mostProbes, (length -| firstFrame) / (256 << 10))
                return stride(from: count, to: 0, by: -1).map {
                    // Bounded: the count is not negative.
                    firstFrame +| (length -| firstFrame) / (count +| 1) *| $0
                }
            }()
        defer { self.probes = probes }
        while let place = probes.last {
            let count = min(Self.probeBytes, Int(clamping: length -| place))
            guard let found = file.found(at: place, count) else { return file.request(place, count) }
            probes.removeLast()
            let window = Array(found.bytes[found.offset..<found.offset + min(count, found.count)])
            guard let summary = PackedAudioSummary(window.span), summary.frameByteCount > 0,
                summary.firstFrame.container == first.firstFrame.container
            else { continue }
            samples.append((place, summary.duration.seconds / Double(summary.frameByteCount)))
        }
        return nil
    }
}

extension AudioFileReading {
    /// Returns segments that start with complete frames, for a file that is loaded completely.
    private static func pieces(
        of length: MediaTime,
        _ bytes: [UInt8],
        _ summary: PackedAudioSummary,
        _ start: Int64
    ) -> [MediaFilePiece] {
        var gathering = PieceGathering(length)
        var offset = summary.firstFrameOffset
        var samples: Int64 = 0
        let rate = Int64(summary.firstFrame.sampleRate)
        while offset < bytes.count {
            guard let header = AudioFrameHeader(bytes.span, at: offset),
                header.container == summary.firstFrame.container, header.frameLength <= bytes.count - offset
            else {
                offset += 1
                continue
            }
            let end = offset + header.frameLength
            gathering.add(
                MediaTimeRange(
                    start: MediaTime(value: samples, timescale: rate),
                    duration: MediaTime(value: Int64(header.samplesPerFrame), timescale: rate)
                ),
                from: start +| Int64(offset),
                to: start +| Int64(end),
                canBegin: header.samplesPerFrame > 0
            )
            samples +|= Int64(header.samplesPerFrame)
            offset = end
        }
        return gathering.pieces().pieces
    }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        guard let first else {
            var timeline = MediaFileTimeline(wholeFile: .id3, length: file.length)
            timeline.problem = .missing("frame of audio")
            return timeline
        }
        var timeline = MediaFileTimeline(wholeFile: first.firstFrame.container, length: file.length)
        timeline.tracks = [first.track]
        if let timestamp { timeline.firstTimestamp = TimestampWrap.time(Int64(clamping: timestamp)) }
        if let exact {
            timeline.duration = first.duration
            timeline.pieces = exact
            return timeline
        }
        timeline.cuts = .approximate
        if let lengthHeader {
            timeline.duration = first.firstFrame.duration * Int64(lengthHeader.frameCount)
        } else if let length = file.length {
            timeline.isDurationEstimated = true
            timeline.duration = estimate(length, first)
        }
        guard let length = file.length, let duration = timeline.duration else { return timeline }
        timeline.pieces = map(first, length, duration).pieces(of: pieceDuration)
        return timeline
    }

    private func estimate(_ length: Int64, _ first: PackedAudioSummary) -> MediaTime? {
        guard first.frameByteCount > 0 else { return nil }
        let bytes = max(0, length -| firstFrame)
        let perByte = first.duration.seconds / Double(first.frameByteCount)
        let named = first.firstFrame.bitRate.map { 8 / Double($0.bitsPerSecond) }
        let all = [perByte] + samples.map(\.secondsPerByte)
        // If all frames have the bit rate of the first header, that rate is exact; the average of a window is not.
        if let named, all.allSatisfy({ abs($0 / named - 1) < 0.005 }) {
            return MediaTime(approximating: Double(bytes) * named)
        }
        return MediaTime(approximating: Double(bytes) * all.reduce(0, +) / Double(all.count))
    }

    /// Returns a map between time and file offset, from the length header's table or the positions that were read.
    private func map(_ first: PackedAudioSummary, _ length: Int64, _ duration: MediaTime) -> TimeByteMap {
        var map = TimeByteMap(start: firstFrame, end: length, duration: duration)
        if let table = lengthHeader?.table, !table.isEmpty {
            let bytes = lengthHeader?.byteCount.map(Int64.init) ?? length -| firstFrame
            for (percent, part) in table.enumerated() where percent > 0 {
                map.insert(
                    duration.scaled(by: MediaTime(value: Int64(percent), timescale: 100)),
                    at: firstFrame +| bytes / 256 *| Int64(part)
                )
            }
            return map
        }
        guard samples.count > 1 else { return map }
        // Each position represents the bytes around it; the durations are scaled so that their sum is the total
        // duration.
        let total = samples.reduce(0) { $0 + $1.secondsPerByte }
        var time = MediaTime.zero
        var byte = firstFrame
        // Bounded: there are at least two samples here.
        let part = (length -| firstFrame) / Int64(samples.count)
        for sample in samples.dropLast() {
            guard let step = MediaTime(approximating: duration.seconds * sample.secondsPerByte / total) else { break }
            time = time + step
            byte +|= part
            map.insert(time, at: byte)
        }
        return map
    }
}

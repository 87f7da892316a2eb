import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests streams with a segment of which media is lost, although it was loaded completely.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct LostMediaTests {
    /// The duration and the file name extension of the segments of a rendition.
    private static func form(_ path: String) -> (seconds: Int64, suffix: String) {
        path.hasPrefix("ts") ? (6, "ts") : (4, "m4s")
    }

    private static func replacingEnd(of bytes: [UInt8], after count: Int) -> [UInt8] {
        Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: max(0, bytes.count - count))
    }

    /// Plays the first three segments of a rendition to their end.
    private func play(_ path: String, secondSegment: [UInt8]) async throws -> DecodedStream {
        let (seconds, suffix) = Self.form(path)
        return try await play(path, durations: [seconds, seconds, seconds], replacing: ["1.\(suffix)": secondSegment])
    }

    /// Plays the first segments of a rendition to their end.
    private func play(
        _ path: String,
        durations: [Int64],
        replacing segments: [String: [UInt8]]
    ) async throws -> DecodedStream {
        let folder = try #require(SampleStreams.directory)
        let (_, suffix) = Self.form(path)
        let map = suffix == "ts" ? "" : "#EXT-X-MAP:URI=\"\(path)/init.mp4\"\n"
        let head = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:\(durations.max() ?? 0)\n\(map)"
        let text = durations.enumerated().reduce(head) {
            $0 + "#EXTINF:\($1.element),\n\(path)/\($1.offset).\(suffix)\n"
        }
        var files = ["lost.m3u8": Array((text + "#EXT-X-ENDLIST\n").utf8)]
        for (name, bytes) in segments { files["\(path)/\(name)"] = bytes }
        let stream = try DecodedStream("lost.m3u8", in: folder, replacing: files)
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        return stream
    }

    private static func skipped(_ stream: DecodedStream) -> [SkippedSegment] {
        stream.events.compactMap { if case .segmentSkipped(let segment) = $0.kind { segment } else { nil } }
    }

    private static func errors(_ stream: DecodedStream) -> [PlaybackErrorRecord] {
        stream.events.compactMap { if case .error(let record) = $0.kind { record } else { nil } }
    }

    @Test(arguments: ["ts/180p", "fmp4/360p"]) func segmentThatIsMostlyZerosIsSkipped(path: String) async throws {
        let (seconds, suffix) = Self.form(path)
        let segment = try SampleStreams.bytes("\(path)/1.\(suffix)")
        let stream = try await play(path, secondSegment: Self.replacingEnd(of: segment, after: 5_000))
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable])
        #expect(skipped.map(\.range.start) == [MediaTime(seconds: seconds)])
        #expect(skipped.map(\.range.end) == [MediaTime(seconds: 2 * seconds)])
        let errors = Self.errors(stream)
        #expect(errors.map(\.statusCode) == [-11_821] && errors.allSatisfy(\.didRecover), "\(errors)")
        #expect(errors.allSatisfy { $0.address?.hasSuffix("/1.\(suffix)") ?? false }, "\(errors)")
        // Other segments are complete, and no frame of the damaged one is shown.
        let frames = Int(seconds) * 30
        let shown = stream.shown.all.map { $0.reading?.frame ?? -1 }
        #expect(Array(shown.prefix(frames)) == Array(0..<frames))
        #expect(Array(shown.suffix(frames - 2)) == Array((frames * 2 + 2)..<(frames * 3)))
        #expect(shown.count <= frames * 2)
    }

    /// The media that precedes the lost part is played, and only the rest is skipped.
    @Test func lostEndOfASegmentIsSkipped() async throws {
        let segment = try SampleStreams.bytes("ts/180p/1.ts")
        let count = segment.count / 2 + 10_000
        let stream = try await play("ts/180p", secondSegment: Self.replacingEnd(of: segment, after: count))
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.mediaType) == [.muxed])
        let range = try #require(skipped.first?.range)
        #expect(range.end == MediaTime(seconds: 12) && range.start.seconds > 8 && range.start.seconds < 11, "\(range)")
        // The reports name the segment.
        #expect(skipped.map(\.sequence) == [1] && skipped.allSatisfy { $0.address.hasSuffix("/ts/180p/1.ts") })
        let errors = Self.errors(stream)
        #expect(errors.map(\.statusCode) == [-11_821] && errors.first?.address == skipped.first?.address)
        #expect(errors.first?.comment.contains("in segment 1 ") == true, "\(errors)")
        #expect(stream.shown.all.count > 400)
    }

    /// No segment follows whose timestamps tell that media is missing.
    @Test func endOfTheLastSegmentThatWasCutWithinAPacketIsSkipped() async throws {
        let segment = try SampleStreams.bytes("ts/180p/2.ts")
        let cut = Array(segment.prefix(segment.count / 376 * 188 + 100))
        let stream = try await play("ts/180p", durations: [6, 6, 6], replacing: ["2.ts": cut])
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.mediaType) == [.muxed])
        #expect(skipped.map(\.sequence) == [2] && skipped.allSatisfy { $0.address.hasSuffix("/ts/180p/2.ts") })
        let range = try #require(skipped.first?.range)
        #expect(range.end == MediaTime(seconds: 18) && range.start.seconds > 13 && range.start.seconds < 17, "\(range)")
        #expect(Self.errors(stream).map(\.statusCode) == [-11_821])
    }

    /// The last segment has another duration than those before it, so that its duration was measured.
    @Test(arguments: [false, true])
    func endOfTheLastSegmentThatWasCutBetweenPacketsIsSkipped(isCut: Bool) async throws {
        let (third, fourth) = (try SampleStreams.bytes("ts/180p/2.ts"), try SampleStreams.bytes("ts/180p/3.ts"))
        let last: [UInt8] = third + fourth.prefix(isCut ? fourth.count / 376 * 188 : fourth.count)
        let stream = try await play("ts/180p", durations: [6, 6, 12], replacing: ["2.ts": last])
        let skipped = Self.skipped(stream)
        guard isCut else {
            #expect(skipped.isEmpty && Self.errors(stream).isEmpty)
            return
        }
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.sequence) == [2])
        let range = try #require(skipped.first?.range)
        #expect(range.end == MediaTime(seconds: 24) && range.start.seconds > 19 && range.start.seconds < 23, "\(range)")
    }

    /// Some playlists declare the same duration for all segments, although the last one is shorter.
    @Test func aLastSegmentThatIsShorterThanDeclaredHasNoLoss() async throws {
        let segment = try SampleStreams.bytes("ts/180p/2.ts")
        let short = Array(segment.prefix(segment.count / 376 * 188))
        let stream = try await play("ts/180p", durations: [6, 6, 6], replacing: ["2.ts": short])
        #expect(Self.skipped(stream).isEmpty && Self.errors(stream).isEmpty)
    }

    /// The segment ends with a whole transport packet, like an intact segment.
    @Test func endOfASegmentThatWasCutBetweenPacketsIsSkipped() async throws {
        let segment = try SampleStreams.bytes("ts/180p/1.ts")
        let cut = Array(segment.prefix(segment.count / 376 * 188))
        let stream = try await play("ts/180p", secondSegment: cut)
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.mediaType) == [.muxed])
        let range = try #require(skipped.first?.range)
        #expect(abs(range.end.seconds - 12) < 0.3 && range.start.seconds > 7.5 && range.start.seconds < 11, "\(range)")
        #expect(Self.errors(stream).map(\.statusCode) == [-11_821])
    }

    /// The transport packets that are left follow each other, so that only their continuity counters have a gap.
    @Test func holeInTheMiddleOfASegmentIsSkipped() async throws {
        let segment = try SampleStreams.bytes("ts/180p/1.ts")
        // Bounded: a segment of the samples has many packets.
        let count = segment.count / 188
        var rest = segment
        rest.removeSubrange(188 * (count * 4 / 10)..<188 * (count * 7 / 10))
        let stream = try await play("ts/180p", secondSegment: rest)
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.mediaType) == [.muxed])
        #expect(skipped.map(\.sequence) == [1] && skipped.allSatisfy { $0.address.hasSuffix("/ts/180p/1.ts") })
        let range = try #require(skipped.first?.range)
        #expect(range.start.seconds > 7 && range.end.seconds < 11.5 && range.duration.seconds > 1, "\(range)")
        let errors = Self.errors(stream)
        #expect(errors.map(\.statusCode) == [-11_821] && errors.allSatisfy(\.didRecover), "\(errors)")
    }

    /// The bytes look like a segment, but the decoder rejects the samples.
    @Test func segmentWhoseSamplesAreUndecodableIsSkipped() async throws {
        var segment = try SampleStreams.bytes("fmp4/360p/1.m4s")
        var payloads: [Range<Int>] = []
        var boxes = BoxIterator(0..<segment.count, in: segment.span)
        while let box = boxes.next(segment.span) {
            if box.type == .mdat { payloads.append(box.payload) }
        }
        try #require(!payloads.isEmpty)
        for position in payloads.joined() { segment[position] = 0xFF }
        let stream = try await play("fmp4/360p", secondSegment: segment)
        let skipped = Self.skipped(stream)
        #expect(skipped.map(\.reason) == [.notDecodable] && skipped.map(\.mediaType) == [.video])
        let range = try #require(skipped.first?.range)
        #expect(abs(range.start.seconds - 4) < 0.3 && abs(range.end.seconds - 8) < 0.3, "\(range)")
        #expect(Self.errors(stream).map(\.statusCode) == [-11_821])
    }

    @Test(arguments: ["ts/180p/media.m3u8", "fmp4/multivariant.m3u8", "byterange/360p/media.m3u8"])
    func intactStreamHasNoLoss(playlist: String) async throws {
        let stream = try DecodedStream(playlist, in: try #require(SampleStreams.directory))
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        #expect(Self.skipped(stream).isEmpty && Self.errors(stream).isEmpty)
    }

    /// The byte range of a key frame for trick play ends before the samples that its fragment declares.
    @Test(arguments: ["ts/180p", "fmp4/360p"]) func segmentThatEndsEarlyHasNoLoss(path: String) throws {
        let (_, suffix) = Self.form(path)
        let header: [UInt8] = try suffix == "ts" ? [] : SampleStreams.bytes("\(path)/init.mp4")
        let segment = try SampleStreams.bytes("\(path)/1.\(suffix)")
        func demux(_ bytes: [UInt8]) throws -> DemuxedSegment {
            try bytes.withUnsafeBytes { bytes in
                try header.withUnsafeBytes { try SegmentDemuxer().demux(bytes, initialization: $0) }
            }
        }
        let part = try demux(Array(segment.prefix(20_000)))
        #expect(!part.packets.isEmpty && part.tracks.allSatisfy { part.lossDescription(of: $0) == nil })
        #expect(part.byteLoss.lost == 0)
        let damaged = try demux(Self.replacingEnd(of: segment, after: 5_000))
        let video = try #require(damaged.tracks.first { $0.kind == .video })
        #expect(damaged.lossDescription(of: video) != nil)
    }
}

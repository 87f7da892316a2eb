import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import MediaDecoding

/// Tests the limits of demultiplexers and decoders.
@Suite struct DecodingLimitTests {
    // MARK: Decoders

    private static func format(_ codec: AVCodecID, kind: MediaTrack.MediaType) throws -> TrackFormat {
        let parameters = try CodecParameters()
        parameters.pointer.pointee.codec_id = codec
        parameters.pointer.pointee.codec_type = kind == .video ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO
        return TrackFormat(id: 0, kind: kind, timeBase: .ninetyKilohertz, parameters: parameters)
    }

    @Test func decoderIsOpenedWithTheDocumentedLimits() throws {
        let context = try DecoderContext(Self.format(AV_CODEC_ID_H264, kind: .video)) { _ in }
        #expect(context.pointer.pointee.max_pixels == 8_192 * 4_320)
        #expect(context.pointer.pointee.max_samples == 1 << 20)
        #expect(context.frameBytes == 0)
    }

    @Test func framesAreCountedUntilTheirLastReferenceIsReleased() throws {
        let context = try DecoderContext(Self.format(AV_CODEC_ID_RAWVIDEO, kind: .video)) { pointer in
            pointer.pointee.width = 4_096
            pointer.pointee.height = 2_160
            pointer.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        }
        let bytes: Int64 = 4_096 * 2_160 * 3 / 2
        var frames: [UnsafeMutablePointer<AVFrame>] = []
        var status: Int32 = 0
        while status >= 0, frames.count < 200 {
            let frame = try #require(av_frame_alloc())
            frame.pointee.width = 4_096
            frame.pointee.height = 2_160
            frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
            status = cffmpeg_get_buffer(context.pointer, frame, 0)
            if status >= 0 {
                frames.append(frame)
            } else {
                var unused: UnsafeMutablePointer<AVFrame>? = frame
                av_frame_free(&unused)
            }
        }
        #expect(status == cffmpeg_error_no_memory())
        #expect(frames.count == Int(DecoderContext.maximumFrameSize / bytes))
        #expect(context.frameBytes == Int64(frames.count) * bytes)
        for frame in frames {
            var frame: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&frame)
        }
        #expect(context.frameBytes == 0)
    }

    @Test func framesOutliveTheirDecoder() throws {
        var context: DecoderContext? = try DecoderContext(Self.format(AV_CODEC_ID_RAWVIDEO, kind: .video)) { pointer in
            pointer.pointee.width = 64
            pointer.pointee.height = 64
            pointer.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        }
        let frame = try #require(av_frame_alloc())
        frame.pointee.width = 64
        frame.pointee.height = 64
        frame.pointee.format = AV_PIX_FMT_YUV420P.rawValue
        let status = try cffmpeg_get_buffer(#require(context).pointer, frame, 0)
        #expect(status >= 0)
        let used = try #require(context).frameBytes
        #expect(used == 6_144)
        context = nil
        #expect(PixelBuffer(owning: frame).byteCount == 64 * 64 * 3 / 2)
    }

    @Test func largeFramesHaveFewerThreads() {
        #expect(DecoderContext.threadCount(requested: 16, width: 1_920, height: 1_080) == 16)
        #expect(DecoderContext.threadCount(requested: 16, width: 8_192, height: 4_320) == 5)
        #expect(DecoderContext.threadCount(requested: 1, width: 8_192, height: 4_320) == 1)
        #expect(DecoderContext.threadCount(requested: 16, width: 0, height: 0) == 16)
        #expect(DecoderContext.threadCount(requested: 16, width: .max, height: .max) == 1)
        #expect(DecoderContext.threadCount(requested: 0, width: 10, height: 10) == 1)
    }

    @Test func longTrackConfigurationIsRejected() throws {
        let parameters = try CodecParameters()
        let length = CodecParameters.maximumExtraDataSize + 1
        parameters.pointer.pointee.extradata = try #require(av_mallocz(length + 64)).assumingMemoryBound(to: UInt8.self)
        parameters.pointer.pointee.extradata_size = Int32(length)
        let error = #expect(throws: DecodingError.self) { try CodecParameters(copying: parameters.pointer) }
        #expect(error?.code == .notReadable)
        parameters.pointer.pointee.extradata_size -= 1
        #expect(try CodecParameters(copying: parameters.pointer).extraData.count == length - 1)
    }

    @Test func unsupportedSampleRatesAreRejected() {
        #expect(!AudioDecoder.supportedSampleRates.contains(1) && !AudioDecoder.supportedSampleRates.contains(999))
        #expect(
            AudioDecoder.supportedSampleRates.contains(8_000) && AudioDecoder.supportedSampleRates.contains(384_000)
        )
    }

    // MARK: Movies

    private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        MovieEncryption.box(type, parts.flatMap { $0 })
    }

    private static func big(_ numbers: Int...) -> [UInt8] { numbers.flatMap { MovieEncryption.big($0) } }

    /// Returns a movie of about 400 bytes whose only track declares the given numbers of samples of one size, and of
    /// edits.
    private static func bomb(samples: Int, edits: Int = 0) -> [UInt8] {
        let entry = box(
            "avc1",
            [UInt8](repeating: 0, count: 6),
            [0, 1],
            [UInt8](repeating: 0, count: 16),
            [0, 64, 0, 64],
            [UInt8](repeating: 0, count: 50)
        )
        let table = box(
            "stbl",
            box("stsd", big(0, 1), entry),
            box("stts", big(0, 1, samples, 1)),
            box("stsc", big(0, 1, 1, samples, 1)),
            box("stsz", big(0, 1, samples)),
            box("stco", big(0, 1, 8))
        )
        let header = box("mdhd", big(0, 0, 0, 25, samples), [0x55, 0xC4, 0, 0])
        let handler = box("hdlr", big(0, 0), Array("vide".utf8), [UInt8](repeating: 0, count: 13))
        let media = box("mdia", header, handler, box("minf", box("vmhd", big(1, 0, 0)), table))
        let edit = box("edts", box("elst", big(0, edits), (0..<edits).flatMap { _ in big(1_000, 0, 0x1_0000) }))
        let track = box("tkhd", big(7, 0, 0, 1, 0, 1_000), [UInt8](repeating: 0, count: 60))
        return box(
            "moov",
            box("mvhd", big(0, 0, 0, 25, 1_000), [UInt8](repeating: 0, count: 80)),
            box("trak", track, edits > 0 ? edit : [], media)
        )
    }

    @Test func movieThatDeclaresMoreSamplesThanItHasBytesIsRejected() {
        let bytes = Self.bomb(samples: 50_000_000) + Self.box("mdat", [UInt8](repeating: 0, count: 100))
        let error = #expect(throws: DecodingError.self) {
            try bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
        }
        #expect(error?.message.contains("50000000 samples") == true, "\(String(describing: error))")
    }

    @Test func repeatedEditsMultiplyTheNumberOfIndexEntries() throws {
        func count(_ bytes: [UInt8]) throws -> Int64 {
            let movie = try Movie(bytes.span)
            return movie.indexEntryCount(bytes.span)
        }
        #expect(try count(Self.bomb(samples: 1_000)) == 1_000)
        #expect(try count(Self.bomb(samples: 1_000, edits: 50)) == 50_000)
    }

    @Test func headerOfAMovieWithTooManySamplesStillDescribesItsTracks() throws {
        let bytes = Self.bomb(samples: -1)
        let initialization = try bytes.withUnsafeBytes { try MovieInitialization($0) }
        let track = try #require(initialization.tracks.values.first)
        #expect(track.format.kind == .video && track.format.width == 64)
        // FFmpeg was not asked to create an index of 4 billion samples.
        let count = initialization.movie.indexEntryCount(bytes.span)
        #expect(count == 0xFFFF_FFFF)
    }

    @Test func progressiveMovieWithTooManySamplesHasNoIndex() throws {
        let bytes = Self.bomb(samples: 2_000_000)
        let movie = try Movie(bytes.span)
        let error = #expect(throws: DecodingError.self) { try ProgressiveIndex(movie, bytes) }
        #expect(error?.message == "the movie has more than 1000000 samples")
    }

    // MARK: Transport stream chunks

    /// Packets of 188, 192 and 204 bytes, in chunks that are smaller and larger than a packet.
    @Test(arguments: [(0, 0), (4, 0), (0, 16)], [1, 100, 188, 192, 204, 1_000, 7_000])
    func packetsOfEachSizeArePassedOnOnce(_ additions: (prefix: Int, suffix: Int), chunk: Int) {
        func packet(_ pid: Int, _ number: Int, begins: Bool) -> [UInt8] {
            [0x47, UInt8(pid >> 8) | (begins ? 0x40 : 0), UInt8(pid & 0xFF), 0x10 | UInt8(number & 15)]
                + [UInt8](repeating: UInt8(number), count: 184)
        }
        let table =
            [0x47, 0x40, 0, 0x10, 0, 0, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xF0, 0]
            + [UInt8](repeating: 0xFF, count: 171)
        let media = (0..<60).map { packet(0x100, $0, begins: $0 % 5 == 0) }
        let stream = ([table] + media).flatMap { packet in
            [UInt8](repeating: 9, count: additions.prefix) + packet + [UInt8](repeating: 8, count: additions.suffix)
        }
        var cutting = TransportStreamBuffer()
        var output: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: chunk) {
            let part = Array(stream[start..<min(stream.count, start + chunk)])
            if let payloads = part.withUnsafeBytes({ unsafe cutting.append($0) }) { output.append(payloads) }
        }
        output += [cutting.finish()].compactMap(\.self)
        for payloads in output { #expect(Array(payloads.prefix(188)) == table) }
        let passed = output.flatMap { payloads in
            stride(from: 188, to: payloads.count - 187, by: 188).map { Array(payloads[$0..<$0 + 188]) }
        }
        // The packets of tables are also passed on where they are in the stream.
        let numbers = passed.filter { $0[1] & 0x1F == 1 }.map { Set($0[4...]).count == 1 ? Int($0[4]) : -1 }
        #expect(numbers == Array(0..<60))
    }

    @Test func endlessPacketIsExaminedOnlyAFewTimes() {
        var cutting = TransportStreamBuffer()
        var packet = [UInt8](repeating: 0xFF, count: 188)
        packet.replaceSubrange(0..<4, with: [0x47, 0x41, 0x00, 0x10])
        var following = packet
        following[1] = 0x01
        let segment = Array(repeating: following, count: 100).flatMap { $0 }
        packet.append(contentsOf: segment)
        _ = packet.withUnsafeBytes { cutting.append($0) }
        for _ in 0..<2_000 { _ = segment.withUnsafeBytes { cutting.append($0) } }
        // 2,000 chunks of 18,800 bytes: without the limit, 20 GB would be copied.
        #expect(cutting.byteCount <= 40 << 20)
        #expect(cutting.examinedByteCount < 12 * 2_001 * segment.count, "\(cutting.examinedByteCount)")
    }

    // MARK: Event messages

    private static func message(_ id: UInt32, at milliseconds: Int64, payload: Int = 0) -> TimedMetadata {
        TimedMetadata(
            kind: .eventMessage,
            time: MediaTime(value: milliseconds, timescale: 1_000),
            id: id,
            payload: [UInt8](repeating: 0, count: payload)
        )
    }

    @Test func tenThousandMessagesWithTheSameTimeAreDistinguished() {
        var feed = MetadataFeed()
        let messages = (0..<10_000).map { Self.message(UInt32($0), at: 5_000) }
        feed.insert(messages + messages, of: .video, offset: .zero)
        feed.insert(messages.reversed(), of: .video, offset: MediaTime(value: 5, timescale: 1_000))
        #expect(feed.count == 10_000)
        feed.seek(to: .zero)
        #expect(feed.takeDue(at: MediaTime(seconds: 5)).map(\.id) == (0..<10_000).map { UInt32($0) })
        #expect(feed.takeDue(at: MediaTime(seconds: 5)).isEmpty)
    }

    @Test func lateMessagesAreInsertedInOrder() {
        var feed = MetadataFeed()
        feed.seek(to: .zero)
        feed.insert([3, 1, 2].map { Self.message($0, at: Int64($0) * 1_000) }, of: .video, offset: .zero)
        #expect(feed.takeDue(at: MediaTime(seconds: 2)).map(\.id) == [1, 2])
        feed.insert([Self.message(4, at: 1_500), Self.message(5, at: 2_500)], of: .video, offset: .zero)
        #expect(feed.takeDue(at: MediaTime(seconds: 3)).map(\.id) == [4, 5, 3])
    }

    @Test func numberOfMessagesIsLimitedAndDeliveredOnesAreRemoved() {
        var feed = MetadataFeed()
        feed.seek(to: .zero)
        let count = MetadataFeed.maximumCount
        feed.insert((0..<count).map { Self.message(UInt32($0), at: Int64($0)) }, of: .video, offset: .zero)
        #expect(feed.count == count)
        feed.insert([Self.message(1_000_000, at: 900_000)], of: .video, offset: .zero)
        #expect(feed.count == count, "none was given, so there is no room")
        _ = feed.takeDue(at: MediaTime(seconds: 10))
        feed.insert([Self.message(1_000_000, at: 900_000)], of: .video, offset: .zero)
        #expect(feed.count == count * 3 / 4 + 1)
        #expect(feed.nextTime(after: MediaTime(seconds: 800)) == MediaTime(seconds: 900))
    }

    @Test func bytesOfMessagesAreLimited() {
        var feed = MetadataFeed()
        feed.insert(
            (0..<40).map { Self.message($0, at: Int64($0) * 1_000, payload: 1 << 20) },
            of: .video,
            offset: .zero
        )
        #expect(feed.count < 32 && feed.count >= 30)
        #expect(feed.byteCount <= MetadataFeed.maximumSize)
        feed.discard(.video, in: MediaTimeRange(start: .zero, end: MediaTime(seconds: 100)))
        #expect(feed.count == 0 && feed.byteCount == 0)
    }

    // MARK: Segments in memory

    @Test func costOfATimelineIsThatOfItsEntries() {
        var timeline = BufferTimeline<Int> { $0 }
        func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
            MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
        }
        timeline.insert(10, at: range(0, 6))
        timeline.insert(20, at: range(6, 12))
        #expect(timeline.cost == 30)
        timeline.insert(5, at: range(6, 12))
        #expect(timeline.cost == 15)
        timeline.remove(range(2, 4)) { _ in true }
        // Both remaining parts of an entry count with its full cost.
        #expect(timeline.cost == 25)
        timeline.remove(range(0, 20)) { $0 == 10 }
        #expect(timeline.cost == 5)
        timeline.remove(range(0, 20)) { _ in true }
        #expect(timeline.cost == 0)
    }
}

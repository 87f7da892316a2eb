import MediaTiming
import SegmentFormat
import Testing

@Suite struct PackedAudioTests {
    static let formats: [([UInt8], MediaContainer, Int, Int, Int, String)] = [
        (Audio.adts(), .aac, 44_100, 2, 1_024, "mp4a.40.2"), (Audio.mp3, .mpegAudio, 44_100, 2, 1_152, "mp4a.40.34"),
        (Audio.ac3, .ac3, 48_000, 6, 1_536, "ac-3"), (Audio.enhancedAC3, .enhancedAC3, 48_000, 6, 1_536, "ec-3"),
    ]

    @Test(arguments: formats)
    func audioFrameHeadersAreParsed(
        _ frame: [UInt8],
        _ container: MediaContainer,
        _ rate: Int,
        _ channels: Int,
        _ samples: Int,
        _ codec: String
    ) throws {
        let header = try #require(AudioFrameHeader(reading: frame))
        #expect(header.container == container)
        #expect(header.sampleRate == rate)
        #expect(header.channelCount == channels)
        #expect(header.samplesPerFrame == samples)
        #expect(header.frameLength == frame.count)
        #expect(header.codec == codec)
    }

    /// The first four bytes of MPEG audio frames with the expected samples, bytes, sample rate and channels.
    static let headers: [([UInt8], Int, Int, Int, Int)] = [
        ([0xFF, 0xFB, 0x92, 0xC0], 1_152, 418, 44_100, 1), ([0xFF, 0xF3, 0x84, 0x00], 576, 192, 24_000, 2),
        ([0xFF, 0xE3, 0x18, 0x00], 576, 72, 8_000, 2), ([0xFF, 0xFD, 0xA4, 0x00], 1_152, 576, 48_000, 2),
        ([0xFF, 0xFF, 0x54, 0x00], 384, 160, 48_000, 2),
    ]

    @Test(arguments: headers)
    func mpegVersionsAndLayersAreParsed(
        _ start: [UInt8],
        _ samples: Int,
        _ length: Int,
        _ rate: Int,
        _ channels: Int
    ) throws {
        let header = try #require(AudioFrameHeader(reading: (start + zeros(8))))
        #expect(header.samplesPerFrame == samples)
        #expect(header.frameLength == length)
        #expect(header.sampleRate == rate)
        #expect(header.channelCount == channels)
    }

    @Test(arguments: formats)
    func durationIsSumOfAllFrames(
        _ frame: [UInt8],
        _ container: MediaContainer,
        _ rate: Int,
        _ channels: Int,
        _ samples: Int,
        _ codec: String
    ) throws {
        let tag = Audio.id3(Audio.timestamp(1 << 33 | 900_000))
        let bytes = tag + Audio.repeated(frame, 7) + frame.prefix(frame.count - 1)
        let summary = try #require(PackedAudioSummary(reading: bytes))
        #expect(summary.tag?.transportTimestamp == 900_000)
        #expect(summary.firstFrameOffset == tag.count)
        #expect(summary.frameCount == 7)
        #expect(summary.duration == MediaTime(value: Int64(7 * samples), timescale: Int64(rate)))
        #expect(summary.skippedByteCount == frame.count - 1)
        #expect(summary.mediaTrack.codec == codec)
    }

    @Test(arguments: formats)
    func framesWithDamagedHeadersAreLost(
        _ frame: [UInt8],
        _ container: MediaContainer,
        _ rate: Int,
        _ channels: Int,
        _ samples: Int,
        _ codec: String
    ) {
        func loss(_ bytes: [UInt8]) -> PackedAudioLoss { PackedAudioLoss(bytes.span) }
        let tag = Audio.id3(Audio.timestamp(5))
        let frames = Audio.repeated(frame, 10)
        let intact = tag + frames
        #expect(loss(intact).byteCount == 0)
        // The parts of frames at both ends belong to other segments, and a tag at the end is not audio.
        #expect(loss(Array(frame.suffix(frame.count / 2)) + frames).byteCount == 0)
        #expect(loss(frames + Array(frame.prefix(frame.count / 2))).byteCount == 0)
        #expect(loss(intact + Array("TAG".utf8) + zeros(125)).byteCount == 0)
        var damaged = intact
        for index in tag.count + 3 * frame.count..<tag.count + 5 * frame.count { damaged[index] = 0 }
        let found = loss(damaged)
        #expect(found.byteCount == 2 * frame.count)
        #expect(found.start == MediaTime(value: Int64(3 * samples), timescale: Int64(rate)))
        #expect(found.end == MediaTime(value: Int64(5 * samples), timescale: Int64(rate)))
        #expect(loss(zeros(5_000)).byteCount == 5_000)
    }

    @Test func bytesAndTagsBetweenFramesAreSkipped() throws {
        let tag = Audio.id3(Audio.timestamp(5))
        let bytes = zeros(100) + Audio.repeated(Audio.mp3, 3) + zeros(10) + Audio.mp3 + tag + Audio.mp3
        let summary = try #require(PackedAudioSummary(reading: bytes))
        #expect(summary.frameCount == 5)
        #expect(summary.firstFrameOffset == 100)
        #expect(summary.skippedByteCount == 10 + tag.count)
        #expect(summary.tag == nil)
    }

    @Test func dependentSubstreamsAddNoDuration() throws {
        var dependent = Audio.enhancedAC3
        dependent[2] |= 0x40
        let bytes = Audio.repeated(Audio.enhancedAC3 + dependent, 5)
        let summary = try #require(PackedAudioSummary(reading: bytes))
        #expect(summary.frameCount == 10)
        #expect(summary.duration == MediaTime(value: 5 * 1_536, timescale: 48_000))
    }

    @Test func otherBytesContainNoFrames() {
        #expect(PackedAudioSummary(reading: zeros(5_000)) == nil)
        #expect(AudioFrameHeader(reading: [0xFF, 0xF1, 0x50]) == nil)
        #expect(AudioFrameHeader(reading: [0xFF, 0xFB, 0xF0, 0, 0, 0, 0, 0]) == nil)
    }
}

@Suite struct ID3TagTests {
    static func tag(_ bytes: [UInt8]) throws -> ID3Tag {
        try #require(ID3Tag(reading: bytes))
    }

    @Test func allFrameTypesAreParsed() throws {
        let frames = [
            Audio.frame("TIT2", [3] + ascii("One\0Two")),
            Audio.frame("TXXX", [0] + ascii("key\0") + [0xE4]),
            Audio.frame("TPE1", [1, 0xFF, 0xFE, 0x41, 0, 0xE4, 0]),
            Audio.frame("TALB", [2, 0, 0x41]),
            Audio.frame("WOAF", ascii("https://example.com")),
            Audio.frame("WXXX", [3] + ascii("name\0https://example.com")),
            Audio.frame("COMM", [3] + ascii("engshort\0long")),
            Audio.frame("PRIV", ascii("owner\0") + [1, 2]),
            Audio.frame("GEOB", [3] + ascii("text/plain\0a.txt\0what\0") + [9]),
            Audio.frame("APIC", [0] + ascii("image/png\0") + [3] + ascii("front\0") + [8, 9]),
            Audio.frame("UFID", [7]),
        ]
        let tag = try Self.tag(Audio.id3(frames.flatMap { $0 } + zeros(20)))
        #expect(tag.majorVersion == 4)
        #expect(
            tag.frames.map(\.value) == [
                .text(["One", "Two"]), .userText(description: "key", values: ["ä"]), .text(["Aä"]), .text(["A"]),
                .url("https://example.com"), .userURL(description: "name", url: "https://example.com"),
                .comment(language: "eng", description: "short", text: "long"),
                .privateData(owner: "owner", data: [1, 2]),
                .object(mimeType: "text/plain", fileName: "a.txt", description: "what", data: [9]),
                .attachedImage(mimeType: "image/png", pictureType: 3, description: "front", data: [8, 9]), .other([7]),
            ]
        )
    }

    @Test func olderTagVersionsAreParsed() throws {
        let second = ascii("TT2") + u24(4) + [0] + ascii("Old")
        #expect(try Self.tag(Audio.id3(version: 2, second)).frames.first?.value == .text(["Old"]))
        let text = [0] as [UInt8] + ascii(String(repeating: "x", count: 199))
        let third = ascii("TIT2") + u32(200) + u16(0) + text
        #expect(
            try Self.tag(Audio.id3(version: 3, third)).frames.first?.value
                == .text([String(repeating: "x", count: 199)])
        )
        let extended = u32(6) + zeros(6) + third
        #expect(try Self.tag(Audio.id3(version: 3, flags: 0x40, extended)).frames.count == 1)
    }

    @Test func unsynchronizationIsReversed() throws {
        let frame = Audio.frame("PRIV", ascii("o\0") + [0xFF, 0x00, 0xE0], flags: 0x02)
        #expect(try Self.tag(Audio.id3(frame)).frames.first?.value == .privateData(owner: "o", data: [0xFF, 0xE0]))
        let third = ascii("PRIV") + u32(4) + u16(0) + ascii("o\0") + [0xFF, 0x00, 0xE0]
        #expect(
            try Self.tag(Audio.id3(version: 3, flags: 0x80, third)).frames.first?.value
                == .privateData(owner: "o", data: [0xFF, 0xE0])
        )
    }

    @Test func transportTimestampHas33Bits() throws {
        #expect(try Self.tag(Audio.id3(Audio.timestamp(-1))).transportTimestamp == 1 << 33 - 1)
        #expect(try Self.tag(Audio.id3(Audio.frame("PRIV", ascii("owner\0") + u64(5)))).transportTimestamp == nil)
    }

    @Test func incompleteTagIsNil() {
        let whole = Audio.id3(Audio.timestamp(1))
        #expect(ID3Tag(reading: Array(whole.dropLast())) == nil)
        #expect(ID3Tag(reading: (ascii("ID3") + [4, 0, 0, 0x80, 0, 0, 0])) == nil)
        #expect(ID3Tag(reading: (ascii("ID3") + [5, 0, 0, 0, 0, 0, 0])) == nil)
    }

    @Test func frameBeyondTagIsIgnored() throws {
        let tag = try Self.tag(
            Audio.id3(Audio.frame("TIT2", [3] + ascii("x")) + ascii("TALB") + Audio.syncSafe(100) + u16(0))
        )
        #expect(tag.frames.map(\.id) == ["TIT2"])
    }
}

import MediaTiming
import SegmentFormat
import Testing

@Suite struct TransportStreamTests {
    static func summary(_ bytes: [UInt8], near reference: Int64? = nil) throws -> TransportStreamSummary {
        try #require(TransportStreamSummary(reading: bytes, near: reference))
    }

    @Test(arguments: [(0, 0), (4, 0), (0, 16)])
    func programAndTimestampsAreParsed(_ prefix: Int, _ suffix: Int) throws {
        let summary = try Self.summary(TransportStreamBuilder.film(seconds: 4, prefix: prefix, suffix: suffix))
        #expect(summary.skippedByteCount == prefix)
        let program = try #require(summary.programs.first)
        #expect(program.clockPID == 0x100)
        #expect(
            program.streams.map(\.mediaTrack) == [
                MediaTrack(id: 0x100, mediaType: .video, codec: "avc1"),
                MediaTrack(id: 0x101, mediaType: .audio, codec: "mp4a.40", language: "deu"),
            ]
        )
        let video = try #require(summary.timestamps[0x100])
        #expect(video.first == 133_200)
        #expect(video.firstDecode == 126_000)
        #expect(video.count == 100)
        #expect(video.averageInterval == 3_600)
        #expect(video.timeRange.duration == MediaTime(seconds: 4))
        let clocks: ClosedRange<Int64> = 117_000...117_000 + 99 * 3_600
        #expect(summary.clockReferences[0x100] == clocks)
        #expect(summary.randomAccessPoints.map(\.presentationTimestamp) == (0..<4).map { 133_200 + $0 * 90_000 })
        #expect(summary.leadingPID == 0x100)
    }

    static let types: [(Int, [UInt8], MediaTrack.MediaType, String?, Bool)] = [
        (0x1B, [], .video, "avc1", false), (0x24, [], .video, "hvc1", false), (0x0F, [], .audio, "mp4a.40", false),
        (0x11, [], .audio, "mp4a.40", false), (0x03, [], .audio, "mp4a.6b", false),
        (0x04, [], .audio, "mp4a.69", false),
        (0x81, [], .audio, "ac-3", false), (0x87, [], .audio, "ec-3", false), (0x15, [], .metadata, "id3", false),
        (0xDB, [], .video, "avc1", true), (0xCF, [], .audio, "mp4a.40", true), (0xC1, [], .audio, "ac-3", true),
        (0xC2, [], .audio, "ec-3", true), (0x06, [5, 4] + ascii("AC-3"), .audio, "ac-3", false),
        (0x06, [5, 4] + ascii("Opus"), .audio, "Opus", false), (0x06, [0x7A, 0], .audio, "ec-3", false),
        (0x06, [0x59, 8] + ascii("fra") + zeros(5), .subtitles, "dvbsub", false), (0x06, [], .other, nil, false),
    ]

    @Test(arguments: types)
    func streamTypesHaveCodecs(
        _ type: Int,
        _ descriptors: [UInt8],
        _ kind: MediaTrack.MediaType,
        _ codec: String?,
        _ isEncrypted: Bool
    ) throws {
        var builder = TransportStreamBuilder()
        builder.tables([(type, 0x200, descriptors)])
        let program = try Self.summary(builder.bytes).programs.first
        let stream = try #require(program?.streams.first)
        #expect(stream.pid == 0x200)
        #expect(stream.mediaType == kind)
        #expect(stream.codec == codec)
        #expect(stream.isSampleEncrypted == isEncrypted)
    }

    @Test func timestampsOfStreamContinueAcrossWraparound() throws {
        let start = Int(TimestampUnwrapper.period) - 90_000
        let summary = try Self.summary(TransportStreamBuilder.film(seconds: 4, from: start))
        let video = try #require(summary.timestamps[0x100])
        #expect(video.earliest == Int64(start + 7_200))
        #expect(video.timeRange.duration == MediaTime(seconds: 4))
        #expect(summary.timeRange(upTo: summary)?.duration == MediaTime(seconds: 4))
    }

    @Test func durationIsDerivedFromHeadAndTail() throws {
        let start = Int(TimestampUnwrapper.period) - 40 * 90_000
        let film = TransportStreamBuilder.film(seconds: 100, from: start)
        let head = try Self.summary(Array(film.prefix(188 * 40)))
        let tail = TransportStreamSummary(reading: Array(film.suffix(188 * 40)), programs: head.programs)
        let last = try #require(tail)
        let range = try #require(head.timeRange(upTo: last))
        #expect(range.start == MediaTime(value: Int64(start + 7_200), timescale: 90_000))
        #expect(range.duration == MediaTime(seconds: 100))
    }

    @Test func referenceDeterminesEpochOfFirstTimestamp() throws {
        let film = TransportStreamBuilder.film(seconds: 1)
        let summary = try Self.summary(film, near: TimestampUnwrapper.period * 3)
        #expect(summary.timestamps[0x100]?.earliest == TimestampUnwrapper.period * 3 + 133_200)
    }

    @Test func damagedBytesAreSkipped() throws {
        let film = TransportStreamBuilder.film(seconds: 4)
        let damaged = Array(film[100..<188 * 60]) + [1, 2, 3] + Array(film[(188 * 60)...])
        let summary = try Self.summary(damaged)
        #expect(summary.skippedByteCount == 88 + 3)
        #expect(summary.timestamps[0x100]?.timeRange.end == MediaTime(value: 133_200 + 360_000, timescale: 90_000))
    }

    @Test func sectionAcrossSeveralPacketsIsReassembled() throws {
        let streams = (0..<60).map { (type: 0x0F, pid: 0x200 + $0, descriptors: [0x0A, 4] + ascii("eng") + [0]) }
        let list = streams.flatMap { u8($0.type) + u16(0xE000 | $0.pid) + u16(0xF000 | 6) + $0.descriptors }
        let body = u16(0xE200) + u16(0xF000) + list
        let section = [2] + u16(0xB000 | (5 + body.count + 4)) + u16(1) + [0xC1, 0, 0] + body + zeros(4)
        var builder = TransportStreamBuilder()
        builder.section(0, 0, number: 1, u16(1) + u16(0xF000))
        let bytes = [0] + section
        for start in stride(from: 0, to: bytes.count, by: 184) {
            builder.packet(0x1000, isStart: start == 0, Array(bytes[start..<min(bytes.count, start + 184)]))
        }
        let summary = try Self.summary(builder.bytes)
        let program = try #require(summary.programs.first)
        #expect(program.streams.map(\.pid) == (0x200..<0x200 + 60).map { UInt16($0) })
        #expect(program.streams.allSatisfy { $0.language == "eng" })
    }

    /// Returns a program map section with one audio stream, without a pointer field.
    private static func map(number: Int, pid: Int) -> [UInt8] {
        let body = u16(0xE000 | pid) + u16(0xF000) + u8(0x0F) + u16(0xE000 | pid) + u16(0xF000)
        return [2] + u16(0xB000 | (5 + body.count + 4)) + u16(number) + [0xC1, 0, 0] + body + zeros(4)
    }

    private static func summaryOfMaps(_ packets: [(isStart: Bool, payload: [UInt8])]) throws -> [UInt16] {
        var builder = TransportStreamBuilder()
        builder.section(0, 0, number: 1, u16(1) + u16(0xF000))
        for packet in packets {
            let stuffing = [UInt8](repeating: 0xFF, count: 184 - packet.payload.count)
            builder.packet(0x1000, isStart: packet.isStart, packet.payload + stuffing)
        }
        // Several packets are required for a stream to be recognized.
        for _ in 0..<4 { builder.packet(0x1FFF, isStart: false, zeros(184)) }
        return try summary(builder.bytes).programs.map(\.number)
    }

    @Test func severalSectionsInOnePacketAreParsed() throws {
        let maps = (1...3).map { Self.map(number: $0, pid: 0x100 + $0) }
        #expect(try Self.summaryOfMaps([(true, [0] + maps.flatMap(\.self))]) == [1, 2, 3])
        // A table that is not a program map is skipped, and so is everything after stuffing.
        let other = [0x42] + u16(0xB000 | 10) + zeros(10)
        #expect(try Self.summaryOfMaps([(true, [0] + maps[0] + other + maps[1])]) == [1, 2])
        #expect(try Self.summaryOfMaps([(true, [0] + maps[0] + [0xFF, 0xFF, 0xFF] + maps[1])]) == [1])
        let empty = [2] + u16(0xB000)
        #expect(try Self.summaryOfMaps([(true, [0] + empty + maps[0])]) == [1])
    }

    @Test func sectionMayEndBeforeTheStartOfTheNextOne() throws {
        let maps = (1...3).map { Self.map(number: $0, pid: 0x100 + $0) }
        // The filler makes the second map continue in the next packet.
        let filler = [0x42] + u16(0xB000 | 140) + zeros(140)
        let all = maps[0] + filler + maps[1]
        let first = Array(all.prefix(183))
        let rest = Array(all.dropFirst(183))
        #expect(!rest.isEmpty)
        #expect(try Self.summaryOfMaps([(true, [0] + first), (true, u8(rest.count) + rest + maps[2])]) == [1, 2, 3])
        #expect(try Self.summaryOfMaps([(true, [0] + first), (false, rest), (true, [0] + maps[2])]) == [1, 2, 3])
        // A lost packet leaves the second map incomplete.
        #expect(try Self.summaryOfMaps([(true, [0] + first), (true, [0] + maps[2])]) == [1, 3])
        // After the end of a section, a packet that starts none has only stuffing.
        #expect(try Self.summaryOfMaps([(true, [0] + first), (false, rest + maps[2])]) == [1, 2])
        #expect(try Self.summaryOfMaps([(false, maps[0]), (true, [200] + maps[1]), (true, [0])]) == [])
    }

    @Test func otherBytesAreNotATransportStream() {
        #expect(TransportStreamSummary(reading: zeros(1_000)) == nil)
        #expect(TransportStreamSummary(reading: zeros(0)) == nil)
    }

    /// Returns the streams of a transport stream in which packets are missing.
    private static func discontinuousPIDs(_ bytes: [UInt8]) throws -> Set<UInt16> {
        try #require(TransportPacketLayout(reading: bytes)).loss(in: bytes.span).discontinuousPIDs
    }

    @Test func missingPacketsAreFoundByTheirContinuityCounters() throws {
        var builder = TransportStreamBuilder()
        for _ in 0..<40 {
            for pid in [0x100, 0x101] { builder.packet(pid, isStart: false, zeros(170)) }
        }
        let intact = builder.bytes
        let size = 188
        #expect(try Self.discontinuousPIDs(intact) == [])
        var cut = intact
        cut.removeSubrange(40 * size..<46 * size)
        #expect(try Self.discontinuousPIDs(cut) == [0x100, 0x101])
        var other = intact
        other.removeSubrange(41 * size..<42 * size)
        #expect(try Self.discontinuousPIDs(other) == [0x101])
        // The first packets after the discontinuity announce it in their adaptation fields.
        for index in [40, 41] { cut[index * size + 5] |= 0x80 }
        #expect(try Self.discontinuousPIDs(cut) == [])
    }

    @Test func missingPacketsAreFoundBetweenSections() {
        var builder = TransportStreamBuilder()
        for _ in 0..<40 {
            for pid in [0x100, 0x101] { builder.packet(pid, isStart: false, zeros(170)) }
        }
        let size = 188
        func section(_ packets: Range<Int>) -> [UInt8] {
            Array(builder.bytes[packets.lowerBound * size..<packets.upperBound * size])
        }
        var continuity = TransportContinuity()
        let first = continuity.takeDiscontinuousPIDs(in: section(0..<20).span)
        let following = continuity.takeDiscontinuousPIDs(in: section(20..<30).span)
        let afterHole = continuity.takeDiscontinuousPIDs(in: section(41..<60).span)
        let last = continuity.takeDiscontinuousPIDs(in: section(60..<80).span)
        #expect(first == [] && following == [])
        #expect(afterHole == [0x100, 0x101])
        #expect(last == [])
    }

    @Test func packetsThatAreRepeatedOrHaveNoPayloadLeaveNoGap() throws {
        var builder = TransportStreamBuilder()
        for _ in 0..<20 { builder.packet(0x100, isStart: false, zeros(184)) }
        let size = 188
        let repeated = Array(builder.bytes[8 * size..<9 * size])
        let empty = [0x47, 0x01, 0x00, 0x2D, 183, 0x00] as [UInt8] + [UInt8](repeating: 0xFF, count: 182)
        let null = [0x47, 0x1F, 0xFF, 0x15] as [UInt8] + zeros(184)
        var bytes = builder.bytes
        bytes.insert(contentsOf: repeated + empty + null + null, at: 9 * size)
        #expect(try Self.discontinuousPIDs(bytes) == [])
        // Some multiplexers do not count.
        for index in 0..<20 { bytes[index * size + 3] &= 0xF0 }
        #expect(try Self.discontinuousPIDs(Array(bytes.prefix(9 * size))) == [])
    }
}

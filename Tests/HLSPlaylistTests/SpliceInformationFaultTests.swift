import MediaTiming
import Testing

@testable import HLSPlaylist

/// Tests of the optional fields of splice information sections (ANSI/SCTE 35 §9.7.3, §10.3.3).
@Suite struct SpliceInformationFaultTests {
    /// Returns a section with a command and descriptors.
    ///
    /// - Parameters:
    ///   - type: The type of the command.
    ///   - command: The fields of the command.
    ///   - length: The declared length of the command; 0xFFF if it ends where its fields end.
    ///   - flags: The byte with the flag of encryption.
    ///   - descriptors: The descriptors.
    /// - Returns: The section.
    private static func section(
        _ type: UInt8,
        _ command: [UInt8],
        length: Int = 0xFFF,
        flags: UInt8 = 0,
        descriptors: [UInt8] = []
    ) -> [UInt8] {
        let high = UInt8(truncatingIfNeeded: length >> 8)
        let low = UInt8(truncatingIfNeeded: length)
        var rest: [UInt8] = [0, flags, 0, 0, 0, 0, 0, 0xFF]
        rest += [0xF0 | high, low, type]
        rest += command
        rest += [0, UInt8(truncatingIfNeeded: descriptors.count)]
        rest += descriptors
        rest += [0, 0, 0, 0]
        return [0xFC, 0x30, UInt8(truncatingIfNeeded: rest.count)] + rest
    }

    /// Returns a segmentation descriptor with event 7, whose fields follow the event.
    private static func descriptor(_ fields: [UInt8], tag: UInt8 = 2, last: UInt8 = 0x49) -> [UInt8] {
        let body: [UInt8] = [0x43, 0x55, 0x45, last, 0, 0, 0, 7] + fields
        return [tag, UInt8(truncatingIfNeeded: body.count)] + body
    }

    /// Returns the fields of a descriptor of a program that has a type and no duration.
    private static func program(_ type: UInt8) -> [UInt8] { [0x7F, 0xBF, 0, 0, type, 1, 1] }

    private static let second = MediaTime(seconds: 1)
    private static let long = MediaTime(value: 4_294_967_296, timescale: 90_000)

    /// The fields after the event, whether a break starts, and its duration.
    @Test(
        arguments: [
            // A program at once, at an unspecified time, and at a time.
            ([0x7F, 0xD0], true, nil), ([0x7F, 0x50], false, nil), ([0x7F, 0xC0, 0x7F], true, nil),
            ([0x7F, 0xC0, 0xFE, 0, 0, 0, 0], true, nil),
            // With a duration of one second and one of 33 bits.
            ([0x7F, 0xF0, 0xFE, 0, 1, 0x5F, 0x90], true, second), ([0x7F, 0xF0, 0xFF, 0, 0, 0, 0], true, long),
            ([0x7F, 0xE0, 0x7F, 0xFE, 0, 1, 0x5F, 0x90], true, second),
            // With components, at a time and at once.
            ([0x7F, 0x80, 0], true, nil), ([0x7F, 0x80, 2, 1, 0x7F, 2, 0xFE, 0, 0, 0, 0], true, nil),
            ([0x7F, 0x90, 2, 1, 2], true, nil), ([0x7F, 0x30, 1, 1, 0xFE, 0, 1, 0x5F, 0x90], false, second),
        ] as [([UInt8], Bool, MediaTime?)]
    )
    func insertsHaveOptionalFields(fields: [UInt8], isOut: Bool, duration: MediaTime?) throws {
        let command: [UInt8] = [0, 0, 1, 9] + fields + [0, 1, 2, 3]
        let bytes = Self.section(5, command, descriptors: Self.descriptor(Self.program(0x34)))
        let read = try #require(SpliceInformation(bytes))
        let insert = SpliceInformation.Insert(eventID: 265, isCanceled: false, isOut: isOut, duration: duration)
        #expect(read.command == .insert(insert))
        // The descriptors begin where the command ends, and the command determines the meaning.
        #expect(read.segmentations.map(\.type) == [0x34])
        let signal: SpliceInformation.Signal = isOut ? .breakStart(duration: duration) : .breakEnd
        #expect(read.signal == signal)
    }

    @Test func canceledInsertHasNoSignal() throws {
        let bytes = Self.section(5, [0, 0, 0, 9, 0xFF], descriptors: Self.descriptor(Self.program(0x34)))
        let read = try #require(SpliceInformation(bytes))
        let insert = SpliceInformation.Insert(eventID: 9, isCanceled: true, isOut: false, duration: nil)
        #expect(read.command == .insert(insert) && read.signal == nil && read.segmentations.count == 1)
    }

    /// The fields after the event, and the type and the duration that they have.
    @Test(
        arguments: [
            ([0x7F, 0xBF, 9, 3, 1, 2, 3, 0x35, 1, 1], 0x35, nil),
            ([0x7F, 0x3F, 2, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x34, 1, 1], 0x34, nil),
            ([0x7F, 0x7F, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0x5F, 0x90, 0, 0, 0x30, 1, 1], 0x30, second),
            ([0x7F, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0x22, 1, 1], 0x22, MediaTime(value: 1 << 32, timescale: 90_000)),
        ] as [([UInt8], UInt8, MediaTime?)]
    )
    func descriptorsHaveOptionalFields(fields: [UInt8], type: UInt8, duration: MediaTime?) throws {
        let loop = Self.descriptor(fields) + Self.descriptor(Self.program(0x11))
        let read = try #require(SpliceInformation(Self.section(0, [], descriptors: loop)))
        #expect(read.command == .null && read.segmentations.map(\.type) == [type, 0x11])
        #expect(read.segmentations.map(\.duration) == [duration, nil])
        #expect(read.segmentations.allSatisfy { $0.eventID == 7 && !$0.isCanceled })
    }

    @Test func canceledDescriptorHasNoSignal() throws {
        let read = try #require(SpliceInformation(Self.section(0, [], descriptors: Self.descriptor([0xFF]))))
        #expect(read.segmentations.map(\.isCanceled) == [true] && read.segmentations.map(\.type) == [0])
        #expect(read.signal == nil)
    }

    @Test func otherDescriptorsAreSkipped() throws {
        let start = Self.descriptor(Self.program(0x34))
        let end = Self.descriptor(Self.program(0x35))
        let others = Self.descriptor(Self.program(0x34), tag: 1) + Self.descriptor(Self.program(0x34), last: 0x4A)
        let read = try #require(SpliceInformation(Self.section(0, [], descriptors: others + end)))
        #expect(read.segmentations.map(\.type) == [0x35] && read.signal == .breakEnd)
        // A start has priority over an end in the same section.
        for loop in [start + end, end + start] {
            let both = try #require(SpliceInformation(Self.section(0, [], descriptors: loop)))
            #expect(both.segmentations.count == 2 && both.signal == .breakStart(duration: nil))
        }
    }

    @Test func lengthOfOtherCommandsIsSkipped() throws {
        let loop = Self.descriptor(Self.program(0x34))
        let other = try #require(SpliceInformation(Self.section(4, [1, 2, 3], length: 3, descriptors: loop)))
        #expect(other.command == .other(4) && other.segmentations.count == 1)
        #expect(SpliceInformation(Self.section(4, [1, 2, 3], length: 200, descriptors: loop)) == nil)
        let signal = try #require(SpliceInformation(Self.section(6, [0x7F], descriptors: loop)))
        #expect(signal.command == .timeSignal && signal.segmentations.count == 1)
    }

    @Test func sectionsAreExamined() {
        let bytes = Self.section(0, [])
        #expect(SpliceInformation(bytes) != nil && SpliceInformation(bytes + [0]) != nil)
        #expect(SpliceInformation(Self.section(0, [], flags: 0x7F)) != nil)
        // An encrypted section, and one of another table.
        #expect(SpliceInformation(Self.section(0, [], flags: 0x80)) == nil)
        #expect(SpliceInformation([0xFD] + Array(bytes.dropFirst())) == nil)
    }

    @Test(
        arguments: [
            ("", []), ("TQ==", [0x4D]), ("TQ", [0x4D]), ("TWE=", [0x4D, 0x61]), ("TWFu", [0x4D, 0x61, 0x6E]),
            ("TWFuTQ==", [0x4D, 0x61, 0x6E, 0x4D]), (" T W\nE = ", [0x4D, 0x61]), ("+/+/", [0xFB, 0xFF, 0xBF]),
            ("T", nil), ("TWFuT", nil), ("T!==", nil), ("TW_-", nil), ("TW~A", nil), ("AAAA", [0, 0, 0]),
        ] as [(String, [UInt8]?)]
    )
    func base64IsDecoded(text: String, bytes: [UInt8]?) {
        #expect(Base64.decode(text) == bytes)
    }
}

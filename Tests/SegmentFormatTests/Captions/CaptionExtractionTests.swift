import SeededRandomness
import SegmentFormat
import Testing

@Suite struct CaptionExtractionTests {
    static let userData: [UInt8] =
        [0xB5, 0x00, 0x31] + ascii("GA94") + [
            0x03, 0x43, 0xFF, 0xFC, 0x94, 0x20, 0xFD, 0x80, 0x80, 0xF8, 1, 2, 0xFF,
        ]
    static let expected = [
        CaptionTriplet(kind: .firstField, first: 0x94, second: 0x20),
        CaptionTriplet(kind: .secondField, first: 0x80, second: 0x80),
    ]

    static func message(_ payload: [UInt8], type: Int = 4) -> [UInt8] { u8(type) + u8(payload.count) + payload }

    /// Inserts emulation prevention bytes.
    static func withEmulationPrevention(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if byte <= 3, result.suffix(2) == [0, 0] { result.append(3) }
            result.append(byte)
        }
        return result
    }

    static let unit =
        [0x06]
        + withEmulationPrevention(
            message([0, 0, 1, 0, 0, 0], type: 1) + message(userData) + message(zeros(300 - 255), type: 5)
        )
        + [0x80]

    private func triplets(_ bytes: [UInt8], _ coding: CaptionTriplet.VideoCodec = .avc) -> [CaptionTriplet] {
        CaptionTriplet.triplets(inNALUnit: bytes.span, codec: coding)
    }

    @Test func captionsAreFoundInSEIMessages() {
        #expect(triplets(Self.unit) == Self.expected)
        #expect(triplets([0x4E, 0x01] + Self.unit.dropFirst(), .hevc) == Self.expected)
        #expect(triplets([0x65] + Self.unit.dropFirst()).isEmpty)
        #expect(triplets([0x02, 0x01] + Self.unit.dropFirst(), .hevc).isEmpty)
    }

    @Test func emulationPreventionBytesAreRemoved() {
        let plain = Self.message([0, 0, 1], type: 1) + Self.message(Self.userData) + [0x80]
        let unit = [0x06] + Self.withEmulationPrevention(plain)
        #expect(unit.count == plain.count + 2)
        #expect(triplets(unit) == Self.expected)
    }

    @Test func captionsAreFoundInSamplesAndByteStreams() {
        let other: [UInt8] = [0x65, 0x88, 0x84]
        let sample = u32(Self.unit.count) + Self.unit + u32(3) + other
        #expect(CaptionTriplet.triplets(inSample: sample.span, coding: .avc) == Self.expected)
        let stream: [UInt8] = [0, 0, 0, 1] + Self.unit + [0, 0, 1] + other
        #expect(CaptionTriplet.triplets(inByteStream: stream.span, codec: .avc) == Self.expected)
    }

    @Test func otherUserDataIsIgnored() {
        for position in 0..<8 {
            var data = Self.userData
            data[position] ^= 1
            #expect(triplets([0x06] + Self.message(data) + [0x80]).isEmpty)
        }
    }

    @Test func captionDataListIsParsed() {
        let bytes: [UInt8] = [0xFC, 0x94, 0x20, 0xF9, 1, 2, 0xFE, 3, 4, 0xFF, 5]
        let list = CaptionTriplet.triplets(in: bytes.span)
        #expect(list.map(\.kind) == [.firstField, .packetData])
    }

    @Test func mutatedAndTruncatedNALUnitsDoNotTrap() {
        var random = SeededGenerator(seed: 94)
        for round in 0..<3_000 {
            var bytes = Self.unit
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            bytes.removeLast(round % bytes.count)
            #expect(triplets(bytes).count <= 62)
            _ = CaptionTriplet.triplets(inSample: bytes.span, coding: .hevc)
            _ = CaptionTriplet.triplets(inByteStream: bytes.span, codec: .avc)
        }
    }
}

import HLSPlaylist
import MediaTiming
import Testing

/// Reads splice information sections (ANSI/SCTE 35).
struct SpliceInformationTests {
    @Test func breaksAreRead() throws {
        let out = try #require(
            SpliceInformation(
                text: "0xFC3025000000000BB802FFF01405000000017FEFFF8D788E687E00527178000100000000A4C46C9A"
            )
        )
        #expect(out.signal == .breakStart(duration: MediaTime(value: 5_403_000, timescale: 90_000)))
        let spot = try #require(SpliceInformation(text: "/DAlAAAAAAAAAP/wFAUAAAABf+/+ANgNkv4AFJlwAAEBAQAA5xULLA=="))
        #expect(spot.signal == .breakStart(duration: MediaTime(seconds: 15)))
        guard case .insert(let insert) = spot.command else { return #expect(Bool(false)) }
        #expect(insert.eventID == 1 && insert.isOut && !insert.isCanceled)
        let end = try #require(
            SpliceInformation(text: "0xFC302000000000000000FFF00F05000000147F7FFE001A17B0C0000000000061DFD67D")
        )
        #expect(end.signal == .breakEnd)
    }

    /// Returns a section with a time signal and a segmentation descriptor.
    private func section(_ type: UInt8, duration: [UInt8]? = nil) -> [UInt8] {
        var descriptor: [UInt8] = [0x43, 0x55, 0x45, 0x49, 0, 0, 0, 7, 0x7F, duration == nil ? 0xBF : 0xFF]
        descriptor += (duration ?? []) + [0, 0, type, 1, 1]
        let loop = [0x02, UInt8(descriptor.count)] + descriptor
        let command: [UInt8] = [0xFE, 0x12, 0x34, 0x56, 0x78]
        var rest: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0xFF, 0xF0, UInt8(command.count), 0x06] + command
        rest += [0, UInt8(loop.count)] + loop + [0, 0, 0, 0]
        return [0xFC, 0x30, UInt8(rest.count)] + rest
    }

    @Test func segmentationDescriptorsAreRead() throws {
        let start = try #require(SpliceInformation(section(0x34, duration: [0, 0, 0x29, 0x32, 0xE0])))
        #expect(start.command == .timeSignal && start.segmentations.map(\.eventID) == [7])
        #expect(start.signal == .breakStart(duration: MediaTime(seconds: 30)))
        #expect(try #require(SpliceInformation(section(0x30))).signal == .breakStart(duration: nil))
        for type: UInt8 in [0x23, 0x31, 0x33, 0x35, 0x37, 0x45, 0x47] {
            #expect(try #require(SpliceInformation(section(type))).signal == .breakEnd)
        }
        for type: UInt8 in [0x00, 0x10, 0x11, 0x40, 0x50, 0xFF] {
            #expect(try #require(SpliceInformation(section(type))).signal == nil)
        }
    }

    /// Every section that ends early is refused, and no change of a bit crashes.
    @Test func damagedSectionsDoNotCrash() throws {
        for bytes in [section(0x34, duration: [0, 0, 0x29, 0x32, 0xE0]), section(0x30)] {
            for count in 0..<bytes.count { #expect(SpliceInformation(Array(bytes.prefix(count))) == nil) }
            for bit in 0..<bytes.count * 8 {
                var changed = bytes
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                _ = SpliceInformation(changed)?.signal
            }
        }
        #expect(SpliceInformation(text: "") == nil && SpliceInformation(text: "0x") == nil)
        #expect(SpliceInformation(text: "not base64!") == nil)
    }
}

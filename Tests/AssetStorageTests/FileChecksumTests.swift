import Foundation
import MediaTransport
import SeededRandomness
import Testing

@testable import AssetStorage

extension FileChecksum {
    /// Returns the checksum of bytes.
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum = FileChecksum()
        sum.update(bytes)
        return sum.value
    }
}

/// Tests the checksum of the files of a package.
@Suite struct FileChecksumTests {
    private func sum(_ bytes: [UInt8]) -> UInt64 {
        var sum = FileChecksum()
        bytes.withUnsafeBytes { sum.update($0) }
        return sum.value
    }

    @Test func resultDoesNotDependOnTheDivision() {
        var random = SeededGenerator(seed: 7)
        let bytes = (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for _ in 0..<200 {
            var sum = FileChecksum()
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(70, rest.count), using: &random)
                Array(rest.prefix(count)).withUnsafeBytes { sum.update($0) }
                rest = rest.dropFirst(count)
            }
            #expect(sum.value == self.sum(bytes))
        }
    }

    @Test(arguments: [1, 7, 8, 31, 32, 33, 64, 100]) func everyChangedByteChangesTheResult(count: Int) {
        let bytes = (0..<count).map { UInt8($0) }
        let original = sum(bytes)
        for position in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[position] ^= 1 << bit
                #expect(sum(changed) != original)
            }
        }
        #expect(sum(bytes + [0]) != original && sum(bytes.dropLast()) != original)
    }

    @Test func exchangedWordsAndZerosAtTheEndChangeTheResult() {
        let bytes = (0..<64).map { UInt8($0) }
        for (first, second) in [(0, 1), (0, 4), (3, 7), (1, 2)] {
            var exchanged = bytes
            for offset in 0..<8 { exchanged.swapAt(first * 8 + offset, second * 8 + offset) }
            #expect(sum(exchanged) != sum(bytes))
        }
        let zeros = (0...100).map { sum([UInt8](repeating: 0, count: $0)) }
        #expect(Set(zeros).count == zeros.count)
    }

    /// The value is stored in catalogs, so it must not change.
    @Test func valueIsThatOfStoredCatalogs() {
        #expect(sum([]) == 13_046_843_333_117_801_372)
        #expect(sum(Array("The quick brown fox jumps over the lazy dog".utf8)) == 8_860_610_256_144_349_436)
    }

    @Test func checksumsOfEarlierVersionsAreAccepted() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("checksum-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let bytes = (0..<100_000).map { UInt8($0 % 253) }
        try Data(bytes).write(to: file)
        let former = bytes.withUnsafeBytes { Int64(bitPattern: BlockChecksum.of($0)) }
        #expect(try FileInspection.hasChecksum(former, file.path))
        #expect(try FileInspection.hasChecksum(Int64(bitPattern: sum(bytes)), file.path))
        #expect(try !FileInspection.hasChecksum(former &+ 1, file.path))
        #expect(try !FileInspection.hasChecksum(former, file.path + "-missing"))
        // The system refuses to say whether there is such a file.
        let name = String(repeating: "x", count: 300)
        #expect(throws: StorageError.self) { try FileInspection.hasChecksum(former, file.path + name) }
        #expect(throws: StorageError.self) { try FileInspection.verifiedSize(file.path + name) }
        #expect(try FileInspection.verifiedSize(file.path + "-missing") == nil)
    }
}

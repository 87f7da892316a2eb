import Testing

@testable import MediaDecoding

/// Encrypts samples according to Apple's "MPEG-2 Stream Encryption Format for HTTP Live Streaming".
enum SampleAESWriter {
    static func audio(_ frame: [UInt8], _ key: SampleKey) throws -> [UInt8] {
        var frame = frame
        let first = (frame[1] & 1 == 0 ? 9 : 7) + 16
        let count = max(0, frame.count - first) / 16 * 16
        try encrypt(&frame, first..<first + count, key)
        return frame
    }

    static func video(_ unit: [UInt8], _ key: SampleKey) throws -> [UInt8] {
        var output: [UInt8] = []
        for nal in units(unit) {
            output += [0, 0, 0, 1]
            let type = nal[0] & 0x1F
            guard type == 1 || type == 5, nal.count > 48 else {
                output += nal
                continue
            }
            var bytes = nal
            var chain = try #require(key.initializationVector)
            let cipher = try BlockCipher(key: key.key)
            var offset = 32
            while offset < bytes.count {
                if bytes.count - offset > 16 {
                    bytes.withUnsafeMutableBytes {
                        cipher.encryptCBC(
                            UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + 16]),
                            vector: &chain
                        )
                    }
                    offset += 16
                }
                offset += min(144, bytes.count - offset)
            }
            var zeros = 0
            for byte in bytes {
                if zeros >= 2, byte <= 3 {
                    output.append(3)
                    zeros = 0
                }
                zeros = byte == 0 ? zeros + 1 : 0
                output.append(byte)
            }
        }
        return output
    }

    private static func encrypt(_ bytes: inout [UInt8], _ range: Range<Int>, _ key: SampleKey) throws {
        guard !range.isEmpty else { return }
        var chain = try #require(key.initializationVector)
        let cipher = try BlockCipher(key: key.key)
        bytes.withUnsafeMutableBytes {
            cipher.encryptCBC(UnsafeMutableRawBufferPointer(rebasing: $0[range]), vector: &chain)
        }
    }

    /// Returns the network abstraction layer units between start codes.
    static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var list: [[UInt8]] = []
        var start: Int?
        var index = 0
        while index + 2 < bytes.count {
            if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
                if let start {
                    var end = index
                    while end > start, bytes[end - 1] == 0 { end -= 1 }
                    list.append(Array(bytes[start..<end]))
                }
                start = index + 3
                index += 3
            } else {
                index += 1
            }
        }
        if let start { list.append(Array(bytes[start...])) }
        return list
    }
}

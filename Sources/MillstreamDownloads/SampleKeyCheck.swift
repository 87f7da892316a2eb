import Crypto
import CryptoExtras
import Foundation
import MediaTiming
import SegmentFormat

/// A check of whether a key decrypts the samples of a segment that is encrypted with `SAMPLE-AES`.
///
/// It covers transport streams, packed audio, and audio in movie fragments with the scheme `cbcs` and one
/// initialization vector. The headers of samples are clear, so a segment looks like media with any key. An AAC frame
/// ends with an end element (ISO/IEC 14496-3 §4.4.2.1), and a frame of AC-3 or Enhanced AC-3 has a checksum.
///
/// Video is not checked, because the encrypted part of a video frame cannot be recognized without decoding it. In a
/// transport stream, the headers and the end of a NAL unit are clear, and one block of ten between them is encrypted.
/// Such a block must not contain a start code, but with a wrong key, only 1 of about 400,000 blocks does. Therefore, the
/// keys of streams without audio of these formats are not verified, which ``KeyVerification/hasUnverifiedKey`` tells.
enum SampleKeyCheck {
    /// The number of bytes of a segment that are read for the check.
    static let maximumSize = 4 << 20
    /// The maximum number of frames that are decrypted.
    private static let maximumFrameCount = 512
    /// The minimum number of frames for a decision: with a wrong key, one in four AAC frames has a valid end by chance.
    private static let minimumFrameCount = 4
    /// The size of a block of AES in bytes.
    private static let blockSize = 16

    /// Checks a key.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - vector: The initialization vector.
    ///   - segment: The beginning of the segment, as it was received.
    /// - Returns: Whether the key can be that of the segment; `nil` if the segment allows no decision.
    static func matches(_ octets: [UInt8], vector: [UInt8], _ segment: [UInt8]) -> Bool? {
        guard let audio = SampleEncryptedAudio(segment.span, maximumFrameCount: maximumFrameCount) else { return nil }
        return matches(octets, vector, audio.frames)
    }

    /// Checks a key with a segment that consists of movie fragments.
    ///
    /// - Parameters:
    ///   - octets: The key.
    ///   - explicitVector: The initialization vector of the playlist; `nil` if it declares none.
    ///   - segment: The beginning of the segment, as it was received.
    ///   - initialization: The initialization section of the segment.
    /// - Returns: Whether the key can be that of the segment; `nil` if the segment allows no decision.
    static func matches(
        _ octets: [UInt8],
        explicitVector: [UInt8]?,
        _ segment: [UInt8],
        initialization: [UInt8]
    ) -> Bool? {
        guard let box = Box.first(.moov, in: initialization.span),
            let movie = try? Movie(initialization.span, at: box.range.lowerBound),
            let audio = SampleEncryptedAudio(segment.span, movie: movie, maximumFrameCount: maximumFrameCount),
            let vector = audio.vector ?? explicitVector
        else { return nil }
        // A vector of 8 bytes is followed by zeros.
        let padding = [UInt8](repeating: 0, count: blockSize)
        return matches(octets, Array((vector + padding).prefix(blockSize)), audio.frames)
    }

    private static func matches(
        _ octets: [UInt8],
        _ vector: [UInt8],
        _ frames: [SampleEncryptedAudio.Frame]
    ) -> Bool? {
        let results = frames.compactMap { isValid($0, octets, vector) }
        guard results.count >= minimumFrameCount else { return nil }
        let validCount = results.count { $0 }
        // Bounded: the maximum number of frames is small.
        return validCount * 4 >= results.count * 3
    }

    /// Returns a Boolean value that indicates whether a frame is valid when it is decrypted; `nil` if the frame allows
    /// no decision.
    private static func isValid(
        _ frame: SampleEncryptedAudio.Frame,
        _ octets: [UInt8],
        _ vector: [UInt8]
    ) -> Bool? {
        let (blockCount, rest) = (frame.bytes.count - frame.clearCount).quotientAndRemainder(dividingBy: blockSize)
        guard blockCount > 0 else { return nil }
        let end = frame.clearCount + (blockCount *| blockSize)
        if frame.container == .aac {
            // The bytes after the last whole block are clear.
            guard rest == 0 else { return nil }
            // Only the last block is decrypted. Its vector is the block before it.
            let previous = blockCount == 1 ? vector : Array(frame.bytes[(end - (2 *| blockSize))..<(end - blockSize)])
            guard let block = decrypted(frame.bytes[(end - blockSize)..<end], octets, previous) else { return nil }
            return endsWithEndElement(block)
        }
        guard let blocks = decrypted(frame.bytes[frame.clearCount..<end], octets, vector) else { return nil }
        let bytes = Array(frame.bytes[..<frame.clearCount]) + blocks + Array(frame.bytes[end...])
        // In an MP4 file, the header of a sample is encrypted too, and a sample can have several frames.
        guard let header = AudioFrameHeader(bytes.span), header.frameLength <= bytes.count else { return false }
        // The checksum covers everything after the synchronization word.
        return checksum(bytes[..<header.frameLength].dropFirst(2)) == 0
    }

    private static func decrypted(_ blocks: ArraySlice<UInt8>, _ octets: [UInt8], _ vector: [UInt8]) -> [UInt8]? {
        guard let iv = try? AES._CBC.IV(ivBytes: vector),
            let bytes = try? AES._CBC.decrypt(Array(blocks), using: SymmetricKey(data: octets), iv: iv, noPadding: true)
        else { return nil }
        return Array(bytes)
    }

    /// Returns a Boolean value that indicates whether bytes can be the end of an AAC frame: three bits that are set, followed by zeros.
    ///
    /// - Parameter bytes: The last bytes of the frame.
    /// - Returns: The value; `nil` if all bytes are zero.
    static func endsWithEndElement(_ bytes: [UInt8]) -> Bool? {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return nil }
        let previous = last > 0 ? bytes[last - 1] : 0xFF
        let bits = (UInt16(previous) << 8 | UInt16(bytes[last])) >> bytes[last].trailingZeroBitCount
        return bits & 7 == 7
    }

    /// Returns the checksum of AC-3 (ETSI TS 102 366 §4.4.5): 0 if the bytes end with the checksum of those before it.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: The remainder of their division by the polynomial 0x8005.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var value: UInt16 = 0
        for byte in bytes {
            value ^= UInt16(byte) << 8
            for _ in 0..<8 { value = value & 0x8000 == 0 ? value << 1 : (value << 1) ^ 0x8005 }
        }
        return value
    }
}

import HLSPlaylist
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests what is remembered about keys that were checked, and the first bytes of media.
@Suite struct EncryptionDetailTests {
    private static let base = "https://films.example/"
    private static let key = Array("0123456789abcdef".utf8)
    /// The first block of a transport stream, encrypted with `key` and the initialization vector 7.
    private static let stream = bytes("e6bc29a20dc49f0ea18c6e2d87e323db")
    /// The word "zero", encrypted with `key` and the initialization vector 7.
    private static let word = bytes("625a06b3141263442535565aa858d322")

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    /// Returns the description of the segment with the media sequence number 7 whose key has a URL.
    private static func segment(_ uri: String) throws -> EncryptedSegment {
        let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\""
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n\(tag)\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(base + "main.m3u8"))
        )
        return try #require(EncryptedSegment(playlist.segments[0]))
    }

    private static let inlineKey = "data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg=="

    // MARK: Keys

    /// A check that is running counts, so that a key is checked by one segment at a time.
    @Test func keyIsCheckedUntilItIsVerified() {
        let keys = VerifiedKeys()
        let (first, second) = (ResourceAddress(Self.base + "a"), ResourceAddress(Self.base + "b"))
        #expect(keys.beginCheck(first) && !keys.beginCheck(first) && keys.beginCheck(second))
        keys.endCheck(first, isVerified: false)
        keys.endCheck(second, isVerified: true)
        #expect(keys.beginCheck(first) && !keys.beginCheck(second))
    }

    /// Bytes that cannot be read, or are no media, do not verify an inline key.
    @Test func startOfMediaIsCheckedUntilTheKeyIsVerified() throws {
        let segment = try Self.segment(Self.inlineKey)
        let keys = VerifiedKeys()
        let starts: [[UInt8]?] = [nil, Self.word, Self.stream, Self.word]
        let results = starts.map { bytes in
            keys.isMedia(segment, Self.key) { count in bytes.map { Array($0.prefix(count)) } }
        }
        #expect(results == [true, false, true, true])
    }

    /// The media of a key that the server has is checked by its padding only.
    @Test func startOfMediaOfOtherKeysIsNotChecked() throws {
        let segment = try Self.segment("key")
        let keys = VerifiedKeys()
        let isMedia = keys.isMedia(segment, Self.key) { _ in
            Issue.record("no bytes are needed")
            return Self.word
        }
        #expect(isMedia && keys.beginCheck(segment.key))
    }

    @Test func oneBlockIsReadForTheStartOfMedia() throws {
        let segment = try Self.segment(Self.inlineKey)
        var counts: [Int] = []
        let isMedia = segment.beginsWithMedia(Self.key) { count in
            counts.append(count)
            return Self.stream
        }
        #expect(isMedia == true && counts == [16])
        let longer = segment.beginsWithMedia(Self.key) { _ in Self.stream + Self.stream }
        #expect(longer == nil)
    }

    /// A segment without bytes says nothing about a key, also about one of the playlist itself.
    @Test(arguments: [(0, nil), (15, false), (16, false), (17, false)] as [(Int64, Bool?)])
    func bytesThatAreNoBlocksDoNotMatchAnInlineKey(size: Int64, expected: Bool?) throws {
        let segment = try Self.segment(Self.inlineKey)
        let isMatch = segment.matches(Self.key.reversed(), ofSize: size) { _ in Self.word }
        #expect(isMatch == expected)
    }

    // MARK: Media

    @Test(
        arguments: [
            ([0x00, 0xF1], false), ([0xFF, 0xE0], true), ([0xFF, 0xDF], false), ([0xFE, 0xFF], false),
            ([0x1A, 0x45, 0xDF, 0xA4], false), ([0x0A, 0x77], false),
        ] as [([UInt8], Bool)]
    )
    func formatsAreToldByTheirFirstBytes(start: [UInt8], isMedia: Bool) {
        let bytes = start + [UInt8](repeating: 0, count: 16 - start.count)
        #expect(MediaSignature.isPresent(in: bytes) == isMedia)
    }

    @Test func eightBytesAreNeeded() {
        #expect(!MediaSignature.isPresent(in: Array("GGGGGGG".utf8)))
        #expect(MediaSignature.isPresent(in: Array("GGGGGGGG".utf8)))
    }
}

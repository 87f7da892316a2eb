import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests whether a key is that of a segment, with the bytes of the segment.
@Suite struct EncryptedSegmentTests {
    private static let base = "https://films.example/"
    private static let key = Array("0123456789abcdef".utf8)
    private static let longKey = Array("0123456789abcdef0123456789ABCDEF".utf8)

    /// A segment of one block, encrypted with `key` and the initialization vector 7.
    private static let oneBlock = bytes("625a06b3141263442535565aa858d322")
    /// A segment of three blocks, encrypted with `key` and the initialization vector 8.
    private static let threeBlocks = bytes(
        "943cd9e209fd0628d15ee5114affcd61d1d2fbc57e606d6a1245881e2f72badcfe744bd0783d29e6170b43fb76d86483"
    )
    /// A segment with its initialization vector and its authentication tag, encrypted with `longKey`.
    private static let authenticated = bytes(
        "000102030405060708090a0b0c0d0e0f47e2c4252f458dd5daa1e7e538e7e531a4ebd5e9d24569a50215d6832cb527aff3d3"
    )

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    /// Returns the description of the segment with the media sequence number 7 of a playlist with a key.
    private static func segment(_ tag: String) throws -> EncryptedSegment? {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n\(tag)\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(base + "main.m3u8"))
        )
        return EncryptedSegment(playlist.segments[0])
    }

    /// Returns the result of the check of a key with all bytes of a segment.
    private func check(_ segment: EncryptedSegment, _ key: [UInt8], _ bytes: [UInt8]) -> Bool? {
        segment.matches(key, ofSize: Int64(bytes.count)) { Array(bytes.suffix($0)) }
    }

    @Test func methodDecidesAboutTheCheck() throws {
        let padded = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        #expect(padded.keyKind == .key && !padded.isCheckedEntirely && padded.checksPerKey == 4)
        #expect(padded.key.text == Self.base + "key" && padded.address.text == Self.base + "0.ts")
        let tagged = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"key\""))
        #expect(tagged.keyKind == .longKey && tagged.isCheckedEntirely && tagged.checksPerKey == 1)
        let uri = "data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg=="
        let samples = try #require(try Self.segment("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"\(uri)\""))
        #expect(samples.keyKind == .key && !samples.isCheckedEntirely && samples.checksPerKey == 4)
        #expect([padded, tagged, samples].map(\.isCheckedWithAudio) == [false, false, true])
        #expect([padded, tagged, samples].map(\.hasInlineKey) == [false, false, true])
    }

    @Test(arguments: [
        "#EXT-X-KEY:METHOD=NONE", "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",KEYFORMAT=\"other\"",
    ])
    func otherSegmentsAreNotChecked(tag: String) throws {
        let segment = try Self.segment(tag)
        #expect(segment?.address == nil)
    }

    /// The media sequence number is the initialization vector, unless the tag has one; it is needed for the only block.
    @Test func paddingOfTheLastBlockIsChecked() throws {
        let numbered = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        #expect(check(numbered, Self.key, Self.oneBlock) == true)
        #expect(check(numbered, Self.key.reversed(), Self.oneBlock) == false)
        // The block before the last one takes the place of the vector.
        #expect(check(numbered, Self.key, Self.threeBlocks) == true)
        #expect(check(numbered, Self.key.reversed(), Self.threeBlocks) == false)
        let other = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x107"))
        #expect(check(other, Self.key, Self.threeBlocks) == true)
    }

    /// The first block of media with the key of the playlist itself, such as one that the user has given.
    @Test func mediaOfAnInlineKeyIsRecognized() throws {
        let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"data:application/octet-stream;base64,MDEyMzQ1Njc4OWFiY2RlZg==\""
        let segment = try #require(try Self.segment(tag))
        #expect(segment.hasInlineKey)
        // The bytes begin with that of a transport stream, or with the word "zero".
        let stream = Self.bytes("e6bc29a20dc49f0ea18c6e2d87e323db")
        let results = [stream, Self.oneBlock, Array(stream.prefix(15))].map { bytes in
            segment.beginsWithMedia(Self.key) { Array(bytes.prefix($0)) }
        }
        #expect(results == [true, false, nil])
        let wrong = segment.beginsWithMedia(Self.key.reversed()) { _ in stream }
        #expect(wrong == false)
        #expect(check(segment, Self.key, Array("media".utf8)) == false)
        let other = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        let result = other.beginsWithMedia(Self.key) { _ in Self.oneBlock }
        #expect(result == nil && !other.hasInlineKey)
    }

    @Test(arguments: [
        ("G---------------", true), ("----G-----------", true), ("-------G--------", false),
        ("\0\0\0\u{18}ftyp----", true), ("\0\0\0\u{18}moof----", true), ("\0\0\0\u{18}word----", false),
        ("ID3-----", true), ("WEBVTT\n\n", true), ("\u{FEFF}WEBVTT\n", true), ("OggS----", true),
        ("zero----", false), ("G", false), ("", false),
    ])
    func formatsOfMediaAreRecognized(text: String, isMedia: Bool) {
        #expect(MediaSignature.isPresent(in: Array(text.utf8)) == isMedia)
    }

    @Test func audioFramesAreRecognized() {
        for (start, isMedia) in [
            ([0xFF, 0xF1], true), ([0xFF, 0xFB], true), ([0x0B, 0x77], true), ([0x1A, 0x45, 0xDF, 0xA3], true),
            ([0xFF, 0x1F], false), ([0x0B, 0x78], false),
        ] as [([UInt8], Bool)] {
            #expect(MediaSignature.isPresent(in: start + [UInt8](repeating: 0, count: 14)) == isMedia, "\(start)")
        }
    }

    @Test func onlyTheLastTwoBlocksAreRead() throws {
        let segment = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        var counts: [Int] = []
        let result = segment.matches(Self.key, ofSize: 48) { count in
            counts.append(count)
            return Array(Self.threeBlocks.suffix(count))
        }
        #expect(result == true && counts == [32])
    }

    /// Bytes that are no series of blocks say nothing about a key.
    @Test(arguments: [(0, 16), (15, 16), (17, 16), (47, 32), (48, 20), (16, 0)] as [(Int64, Int)])
    func otherSizesSayNothing(size: Int64, read: Int) throws {
        let segment = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        let result = segment.matches(Self.key.reversed(), ofSize: size) { _ in [UInt8](repeating: 0, count: read) }
        #expect(result == nil)
        let unreadable = segment.matches(Self.key, ofSize: 48) { _ in nil }
        #expect(unreadable == nil)
    }

    @Test func authenticationTagIsChecked() throws {
        let segment = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"key\""))
        #expect(check(segment, Self.longKey, Self.authenticated) == true)
        #expect(check(segment, Self.longKey.reversed(), Self.authenticated) == false)
        var damaged = Self.authenticated
        damaged[20] ^= 1
        #expect(check(segment, Self.longKey, damaged) == false)
        // A vector and a tag are needed, and a large segment is not decrypted.
        let maximum = 8 << 20
        let sizes = [31, 32, maximum, maximum + 1]
        let results = sizes.map { check(segment, Self.longKey, [UInt8](repeating: 0, count: $0)) }
        #expect(results == [nil, false, false, nil])
        let short = segment.matches(Self.longKey, ofSize: 50) { _ in Array(Self.authenticated.dropLast()) }
        #expect(short == nil)
    }

    @Test func fileThatCannotBeReadSaysNothing() throws {
        let segment = try #require(try Self.segment("#EXT-X-KEY:METHOD=AES-128,URI=\"key\""))
        #expect(segment.matches(Self.key, fileAt: "/nonexistent/0.ts") == nil)
    }

    // MARK: Received keys

    private func body(_ response: TransportResponse) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await buffer in response.body { bytes += Array(buffer.readableBytesView) }
        return bytes
    }

    /// If a key is requested again, it was not stored.
    @Test func receivedKeyIsAnsweredOnce() async throws {
        let address = ResourceAddress(Self.base + "key")
        let origin = ScriptedTransport(texts: [address.text: "from the origin"])
        let keys = ReceivedKeys(base: origin)
        keys.add(Self.key, at: address)
        // Only requests for keys are answered.
        let other = try await body(try await keys.send(TransportRequest(address, kind: .segment)))
        #expect(other == Array("from the origin".utf8) && origin.requests.count == 1)
        let response = try await keys.send(TransportRequest(address, kind: .key))
        #expect(response.status == 200 && response.expectedLength == 16)
        let first = try await body(response)
        #expect(first == Self.key && origin.requests.count == 1)
        let second = try await body(try await keys.send(TransportRequest(address, kind: .key)))
        #expect(second == Array("from the origin".utf8) && origin.requests.count == 2)
    }
}

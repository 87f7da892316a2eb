import HLSPlaylist
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct ProtectionTests {
    private func protection(_ key: String, map: String = "") throws -> Protection {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:258\n\(key)\n\(map)\n#EXTINF:4,\na.ts\n"
        let segment = try #require(PresentationTimeline(try media(text)).segments.first)
        return map.isEmpty ? segment.protection : try #require(segment.initialization).protection
    }

    @Test func theSequenceNumberIsTheDefaultInitializationVector() throws {
        let key = try #require(try protection(#"#EXT-X-KEY:METHOD=AES-128,URI="k?id=%41""#).key)
        #expect(key.address.text == "https://example.com/live/k?id=%41" && !key.isInitializationVectorExplicit)
        #expect(key.initializationVector == [UInt8](repeating: 0, count: 14) + [1, 2])
    }

    @Test func aDeclaredInitializationVectorIsUsed() throws {
        let key = try #require(try protection(#"#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x0102"#).key)
        #expect(
            key.isInitializationVectorExplicit && key.initializationVector == [UInt8](repeating: 0, count: 14) + [1, 2]
        )
    }

    @Test(arguments: ["SAMPLE-AES", "SAMPLE-AES-CTR"])
    func sampleEncryptionIsPassedToTheDecoder(method: String) throws {
        guard case .samples(let key) = try protection(#"#EXT-X-KEY:METHOD=\#(method),URI="k",IV=0x1"#) else {
            Issue.record("not by samples")
            return
        }
        #expect(key.method.rawValue == method)
    }

    @Test func galoisCounterModeReadsItsVectorFromTheSegment() throws {
        guard case .wholeResource(let key) = try protection(#"#EXT-X-KEY:METHOD=AES-256-GCM,URI="k""#) else {
            Issue.record("not as a whole")
            return
        }
        #expect(key.initializationVector == nil)
    }

    @Test(arguments: [
        (
            #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery""#,
            Protection.UnsupportedReason.keyFormats(["com.apple.streamingkeydelivery"])
        ),
        (#"#EXT-X-KEY:METHOD=ROT13,URI="k""#, .method("ROT13")),
        ("#EXT-X-KEY:METHOD=AES-128", .missingKeyAddress),
        (#"#EXT-X-KEY:METHOD=AES-128,URI="k",IV=12"#, .invalidInitializationVector),
    ])
    func unsupportedEncryptionIsRejectedWithTheReason(key: String, refusal: Protection.UnsupportedReason) throws {
        #expect(try protection(key).unsupportedReason == refusal)
    }

    @Test func identityKeysTakePrecedenceOverOtherFormats() throws {
        let keys = """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",IV=0x1
            """
        #expect(try protection(keys).key?.address.text == "https://example.com/live/k")
    }

    @Test func theMethodNoneEndsEncryption() throws {
        #expect(try protection("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-KEY:METHOD=NONE") == .none)
    }

    @Test func anEncryptedMapNeedsAnInitializationVector() throws {
        let map = #"#EXT-X-MAP:URI="init.mp4""#
        #expect(
            try protection(#"#EXT-X-KEY:METHOD=AES-128,URI="k""#, map: map).unsupportedReason
                == .missingInitializationVector
        )
        #expect(
            try protection(#"#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x5"#, map: map).key?.initializationVector?.last == 5
        )
        #expect(try protection(#"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k""#, map: map).key?.initializationVector == nil)
    }
}

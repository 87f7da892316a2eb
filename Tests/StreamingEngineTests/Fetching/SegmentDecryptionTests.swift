import HLSPlaylist
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the sizes that encrypted resources and their keys must have.
@Suite struct SegmentDecryptionTests {
    private func failure(_ method: EncryptionKey.Method, keySize: Int, size: Int) -> String? {
        let key = KeyReference(
            method: method,
            address: ResourceAddress("https://example.com/key"),
            initializationVector: method == .aes128 ? [UInt8](repeating: 0, count: 16) : nil,
            isInitializationVectorExplicit: false
        )
        let error = #expect(throws: SegmentDecryption.Failure.self) {
            try SegmentDecryption.decrypt(
                [UInt8](repeating: 1, count: size),
                key: key,
                keyBytes: [UInt8](repeating: 2, count: keySize)
            )
        }
        return error?.message
    }

    @Test(arguments: [
        (15, 16, "must have 16 bytes, but has 15"), (17, 16, "must have 16 bytes, but has 17"), (16, 0, "0 bytes"),
        (16, 17, "17 bytes, is not a multiple of 16"), (16, 16, "the key does not match"),
    ])
    func aesInCBCModeNeedsWholeBlocksAndAKeyOfSixteenBytes(keySize: Int, size: Int, message: String) {
        #expect(failure(.aes128, keySize: keySize, size: size)?.contains(message) == true)
    }

    @Test(arguments: [
        (31, 48, "must have 32 bytes, but has 31"), (33, 48, "must have 32 bytes, but has 33"),
        (32, 31, "31 bytes are too few"), (32, 32, "the authentication tag is invalid"),
    ])
    func aesInGaloisCounterModeNeedsAVectorATagAndAKeyOfThirtyTwoBytes(keySize: Int, size: Int, message: String) {
        #expect(failure(.aes256GCM, keySize: keySize, size: size)?.contains(message) == true)
    }
}

/// Tests of the recognition of playlists and media files.
@Suite struct SourceRecognitionTests {
    @Test(arguments: [
        "application/vnd.apple.mpegurl", "Application/X-MPEGURL", " audio/mpegurl ; charset=utf-8", "audio/x-mpegurl",
        "application/dash+xml",
    ])
    func mediaTypesOfPlaylistsAreRecognized(type: String) {
        guard case .playlist = SourceOpener.Kind(mimeType: type) else {
            Issue.record("\(type) is no playlist")
            return
        }
    }

    @Test(arguments: ["video/mp4", "", "audio/mpeg", "application/vnd.apple.mpegurl.x"])
    func otherMediaTypesAreFiles(type: String) {
        guard case .file = SourceOpener.Kind(mimeType: type) else {
            Issue.record("\(type) is no file")
            return
        }
    }

    @Test(
        arguments: [
            (Array("fLaC0".utf8), true), (Array("fLaC".utf8), false), (Array("OggS0".utf8), true),
            (Array("RIFF0".utf8), true), (Array("ID3\u{4}0".utf8), true), (Array("ID4\u{4}0".utf8), false),
            ([0xFF, 0xE0, 0, 0, 0], true), ([0xFF, 0xF1, 0, 0, 0], true), ([0xFF, 0xFF, 0, 0, 0], true),
            ([0xFF, 0xDF, 0, 0, 0], false), ([0xFE, 0xE0, 0, 0, 0], false),
            ([0x0B, 0x77, 0, 0, 0], true), ([0x0B, 0x78, 0, 0, 0], false), ([0x0C, 0x77, 0, 0, 0], false),
            ([0x1A, 0x45, 0xDF, 0xA3, 0], true), ([0x1A, 0x45, 0xDF, 0xA4, 0], false), ([], false),
        ] as [([UInt8], Bool)]
    )
    func mediaFilesAreRecognizedByTheirFirstBytes(bytes: [UInt8], isMedia: Bool) {
        #expect(SourceOpener.isMedia(bytes) == isMedia)
    }
}

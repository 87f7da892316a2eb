import Foundation
import HLSPlaylist
import Testing

@testable import AssetStorage

/// Tests that the verification of an asset checks each of its files.
@Suite struct VerificationFaultTests {
    @Test(arguments: 0..<3) func everyFileIsChecked(index: Int) throws {
        let temporary = try TemporaryLibrary()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts", "#EXTINF:4,", "2.ts")
        let id = try temporary.planned(media)
        try temporary.complete(id)
        let path = "media/00000\(index).ts"
        try FileManager.default.removeItem(at: temporary.url(path, of: id))
        for _ in 0..<2 { #expect(try temporary.library.verify(id).damaged == [path]) }
        #expect(try temporary.library.missingResources(id).map(\.path) == [path])
        #expect(try temporary.library.asset(id).state == .partial)
    }

    /// An asset whose stream was never loaded has no playlists that could be damaged.
    @Test func assetWithoutPlaylistsGetsNone() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.enter()
        for _ in 0..<2 { #expect(try temporary.library.verify(id).damaged == []) }
        #expect(!FileManager.default.fileExists(atPath: temporary.url("multivariant.m3u8", of: id).path))
        #expect(try temporary.library.asset(id).state == .partial)
    }
}

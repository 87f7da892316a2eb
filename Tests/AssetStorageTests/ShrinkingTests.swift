import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import Testing

/// Tests the removal of variants from stored assets.
@Suite struct ShrinkingTests {
    private let temporary: TemporaryLibrary
    private let id: String

    /// Creates an asset with three variants: the first two share their playlist, and the last has its own audio.
    init() throws {
        temporary = try TemporaryLibrary()
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="en",LANGUAGE="en",URI="a-low.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",NAME="en",LANGUAGE="en",URI="a-high.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=640x360,AUDIO="high""#,
            "small.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="low""#,
            "small.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=6000000,RESOLUTION=1920x1080,AUDIO="high""#,
            "large.m3u8"
        )
        guard case .multivariant(let multivariant) = source else { throw CancellationError() }
        func media(_ name: String) throws -> MediaPlaylist {
            try TemporaryLibrary.media("#EXTINF:4,", "\(name)0.ts", "#EXTINF:4,", "\(name)1.ts")
        }
        id = try temporary.enter()
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(
                .variant,
                0,
                try media("small"),
                variant: multivariant.variants[0],
                aliases: [1]
            ),
            TemporaryLibrary.rendition(.variant, 2, try media("large"), variant: multivariant.variants[2]),
            TemporaryLibrary.rendition(.audio, 0, try media("alow"), language: "en"),
            TemporaryLibrary.rendition(.audio, 1, try media("ahigh"), language: "en")
        )
        try temporary.complete(id)
        _ = temporary.files.takeLines()
    }

    private var library: AssetLibrary { temporary.library }
    private var playlist: String { get throws { try temporary.text("multivariant.m3u8", of: id) } }
    private var folders: [String] { get throws { try temporary.names(of: id).filter { !$0.contains(".") } } }

    @Test func variantsAboveTheHeightAreRemoved() throws {
        let before = try library.diskUsage(id).occupiedBytes
        let result = try library.shrink(id, to: .maximumHeight(720))
        #expect(result.removed.map(\.folder) == ["variant-2"])
        #expect(result.freedBytes > .zero)
        #expect(try library.diskUsage(id).occupiedBytes + result.freedBytes == before)
        // The audio of the removed variant is still used by another one.
        #expect(try folders == ["audio-0", "audio-1", "variant-0"])
        #expect(try !playlist.contains("1920x1080") && playlist.contains("variant-0/media.m3u8"))
        let asset = try library.asset(id)
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.renditions.count == 3)
        #expect(try library.verify(id).damaged.isEmpty)
        #expect(try library.summaries().map(\.diskBytes) == [library.diskUsage(id).occupiedBytes])
    }

    @Test func renditionsThatOnlyRemovedVariantsUseAreRemoved() throws {
        let result = try library.shrink(id, to: .maximumBitRate(BitRate(bitsPerSecond: 1_000_000)))
        #expect(result.removed.map(\.folder) == ["variant-2", "audio-1"])
        #expect(try folders == ["audio-0", "variant-0"])
        // The variant that shares its playlist with a removed one remains, with its own attributes.
        let asset = try library.asset(id)
        #expect(asset.renditions.first?.bandwidth?.bitsPerSecond == 900_000)
        #expect(try playlist.contains("BANDWIDTH=900000") && !playlist.contains("BANDWIDTH=3000000"))
        #expect(try !playlist.contains("audio-1"))
    }

    @Test func catalogChangesBeforePlaylistsAndFiles() throws {
        _ = try library.shrink(id, to: .maximumHeight(720))
        let lines = temporary.files.takeLines()
        let commit = try #require(lines.firstIndex(of: "commit"))
        let playlist = try #require(
            lines.firstIndex(of: "rename packages/*/multivariant.m3u8.part to packages/*/multivariant.m3u8")
        )
        let removal = try #require(lines.firstIndex { $0.hasPrefix("remove ") })
        #expect(commit < playlist && playlist < removal)
    }

    @Test(arguments: [
        "rename packages/*/multivariant.m3u8.part to packages/*/multivariant.m3u8",
        "create packages/*/multivariant.m3u8.part",
    ])
    func interruptedRemovalIsFinishedWhenTheLibraryIsOpened(operation: String) throws {
        temporary.files.fail(operation, with: EIO)
        #expect(throws: StorageError.self) { try library.shrink(id, to: .maximumHeight(720)) }
        #expect(try playlist.contains("1920x1080") && folders.contains("variant-2"))
        temporary.files.stopFailing()
        let opened = try AssetLibrary(directory: temporary.directory)
        #expect(try !playlist.contains("1920x1080"))
        #expect(try folders == ["audio-0", "audio-1", "variant-0"])
        #expect(try opened.verify(id).damaged.isEmpty)
    }

    @Test func limitThatLeavesNothingIsRefusedWithTheVariants() throws {
        let names = try temporary.names(of: id)
        let error = storageError { _ = try library.shrink(id, to: .maximumHeight(200)) }
        #expect(error?.code == "nothing-left")
        #expect(error?.message.contains("1920x1080 6 Mbit/s") == true, "\(error?.message ?? "")")
        #expect(try temporary.names(of: id) == names)
        #expect(try library.shrink(id, to: .maximumHeight(1080)).removed.isEmpty)
        #expect(try temporary.names(of: id) == names)
    }

    @Test func assetInUseIsNotChanged() throws {
        let player = PackageTransport(library, id: id, origin: nil)
        #expect(storageError { _ = try library.shrink(id, to: .maximumHeight(720)) }?.code == "asset-busy")
        withExtendedLifetime(player) {}
        let lock = try library.lock(id)
        #expect(storageError { _ = try library.shrink(id, to: .maximumHeight(720)) }?.code == "asset-busy")
        withExtendedLifetime(lock) {}
        #expect(try folders.contains("variant-2"))
        #expect(storageError { _ = try library.shrink("unknown", to: .maximumHeight(720)) }?.code == "not-found")
    }

    @Test func partialAssetWithoutMissingFilesIsComplete() throws {
        try FileManager.default.removeItem(at: temporary.url("variant-2/000001.ts", of: id))
        #expect(try library.verify(id).damaged == ["variant-2/000001.ts"])
        #expect(try library.asset(id).state == .partial)
        _ = try library.shrink(id, to: .maximumHeight(720))
        #expect(try library.asset(id).state == .complete)
    }

    /// A variant without a declared height satisfies a limit of the height, and renditions of groups that no variant has are not those of removed ones.
    @Test func entriesWithoutAHeightOrAGroupOfAVariantStay() throws {
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="en",LANGUAGE="en",URI="x.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="en",LANGUAGE="en",URI="s.m3u8""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=1000",
            "plain.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=640x360",
            "small.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=3000,RESOLUTION=1920x1080,SUBTITLES="s""#,
            "large.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=640x360,URI="i.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=2,RESOLUTION=1920x1080,URI="j.m3u8""#,
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=3,URI="k.m3u8""#
        )
        let other = try temporary.enter("B", from: "b.m3u8")
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(
            other,
            source,
            TemporaryLibrary.rendition(.variant, 0, media),
            TemporaryLibrary.rendition(.variant, 1, media),
            TemporaryLibrary.rendition(.variant, 2, media),
            TemporaryLibrary.rendition(.audio, 0, media),
            TemporaryLibrary.rendition(.subtitles, 1, media),
            TemporaryLibrary.rendition(.iFrames, 0, media),
            TemporaryLibrary.rendition(.iFrames, 1, media),
            TemporaryLibrary.rendition(.iFrames, 2, media)
        )
        let result = try library.shrink(other, to: .maximumHeight(360))
        #expect(result.removed.map(\.folder) == ["variant-2", "subtitles-1", "i-frames-1"])
        let remaining = ["variant-0", "variant-1", "audio-0", "i-frames-0", "i-frames-2"]
        #expect(try library.asset(other).renditions.map(\.folder) == remaining)
        // Nothing is stored, so the asset is not complete.
        #expect(try library.asset(other).state == .partial)
        #expect(result.outcome == .removed)
        let rate = BitRate(bitsPerSecond: 1_000)
        #expect(try library.shrink(other, to: .maximumBitRate(rate)).removed.map(\.folder) == ["variant-1"])
        let error = storageError { _ = try library.shrink(other, to: .maximumBitRate(BitRate(bitsPerSecond: 999))) }
        #expect(error?.message == "no stored variant has a bit rate of at most 999 bit/s; there is 1 kbit/s")
    }

    /// For example, only the subtitles were downloaded.
    @Test func assetWithoutVariantsStays() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "x.vtt")
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="b",URI="t.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=3000,RESOLUTION=1920x1080,SUBTITLES="s""#,
            "large.m3u8"
        )
        let other = try temporary.enter("B", from: "b.m3u8")
        try temporary.plan(other, source, TemporaryLibrary.rendition(.subtitles, 0, media))
        #expect(try library.shrink(other, to: .maximumHeight(1)).outcome == .noVariants)
        #expect(try library.asset(other).renditions.count == 1)
    }

    @Test func singleVariantOfAMediaPlaylistStays() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "x.ts")
        let other = try temporary.enter("B", from: "b.m3u8")
        try temporary.plan(other, .media(media), TemporaryLibrary.rendition(.variant, -1, media))
        let result = try library.shrink(other, to: .maximumHeight(1))
        #expect(result.outcome == .noVariants && result.removed.isEmpty)
        #expect(try library.asset(other).renditions.count == 1)
    }
}

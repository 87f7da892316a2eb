import Foundation
import HLSPlaylist
import Testing

@testable import AssetStorage

/// Tests removals that are interrupted, or that remove nothing.
@Suite struct ShrinkingFaultTests {
    private let temporary: TemporaryLibrary
    private let id: String

    /// Creates an asset with two variants, of which only the first one is stored.
    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.enter()
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=640x360",
            "a.m3u8",
            "#EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=1280x720",
            "b.m3u8"
        )
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, try TemporaryLibrary.media("#EXTINF:4,", "a.ts")),
            TemporaryLibrary.rendition(.variant, 1, try TemporaryLibrary.media("#EXTINF:4,", "b.ts"))
        )
        try temporary.store(library.missingResources(id).filter { $0.folder == "variant-0" }, of: id)
        _ = temporary.files.takeLines()
    }

    private var library: AssetLibrary { temporary.library }

    /// The catalog is complete at once, and the files are removed when the library is opened again.
    @Test func interruptedRemovalOfRenditionsIsFinished() throws {
        do {
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            temporary.files.fail("create packages/*/multivariant.m3u8.part", with: EIO)
            #expect(storageError { try library.removeRenditions(of: id, besides: ["variant-0"]) } != nil)
            temporary.files.stopFailing()
        }
        #expect(try library.asset(id).state == .complete)
        #expect(try temporary.text("multivariant.m3u8", of: id).contains("variant-1"))
        let opened = try AssetLibrary(directory: temporary.directory)
        #expect(try !temporary.text("multivariant.m3u8", of: id).contains("variant-1"))
        #expect(try !temporary.names(of: id).contains("variant-1"))
        #expect(try opened.asset(id).renditions.map(\.folder) == ["variant-0"])
    }

    @Test func playlistsAreNotWrittenIfNothingIsRemoved() throws {
        #expect(try library.shrink(id, to: .maximumHeight(720)).outcome == .withinLimit)
        #expect(temporary.files.takeLines().count { $0 == "commit" } == 1)
    }

    // MARK: Paths

    @Test func planWithKnownPathsNamesTheOtherFilesAsBefore() throws {
        let media = try TemporaryLibrary.media("#EXTINF:4,", "a", "#EXTINF:4,", "b")
        let plan = PackagePlan(
            folder: "f",
            role: .variant,
            playlist: media,
            firstPosition: 3,
            segmentExtension: ".mp4"
        )
        let known = plan.with([PackagePlan.Identity(segmentAt: 0, .segment): "f/first.ts"])
        #expect(media.segments.map { known.path(of: $0) } == ["f/first.ts", "f/000004.mp4"])
        #expect(known.folder == "f" && known.role == .variant && known.firstPosition == 3)
        #expect(known.localName("f/first.ts") == "first.ts")
    }
}

import Foundation
import MediaTransport
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the removal of the renditions that a refused download has added to an asset.
@Suite struct FormerPlanEdgeTests {
    private let temporary: TemporaryLibrary
    private let id: String
    private let former: FormerPlan

    /// Adds an asset with a variant, to which a later plan with another selection adds two audio renditions.
    init() throws {
        let temporary = try TemporaryLibrary()
        let id = try temporary.enter()
        let media = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="F",LANGUAGE="fr",URI="fr.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a""#,
            "low.m3u8"
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, media))
        former = try temporary.library.formerPlan(of: id)
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, media),
            TemporaryLibrary.rendition(.audio, 0, media, language: "en"),
            TemporaryLibrary.rendition(.audio, 1, media, language: "fr")
        )
        try temporary.library.setSelection("more", title: nil, of: id)
        self.temporary = temporary
        self.id = id
    }

    private var library: AssetLibrary { temporary.library }

    private func folders() throws -> [String] { try library.asset(id).renditions.map(\.folder) }

    private func selection() throws -> String { try library.asset(id).selection }

    private func addDownload(_ state: DownloadRecord.State, of assetID: String) throws {
        try library.addDownload(
            DownloadRecord.films(
                of: assetID,
                from: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
                state: state,
                created: 1
            )
        )
    }

    @Test func formerPlanHasTheDirectoriesAndTheSelection() throws {
        #expect(former.id == id && former.folders == ["variant-0"] && former.selection == "all")
        #expect(try folders() == ["variant-0", "audio-0", "audio-1"])
    }

    /// One of the downloads that wait is the refused one; another one may need the renditions.
    @Test(
        arguments: [
            ([], [], true), ([.waiting], [], true), ([.suspended], [], true), ([.waiting, .suspended], [], false),
            ([.waiting, .waiting], [], false), ([.waiting, .failed, .canceled], [], true),
            ([.waiting], [.waiting, .suspended], true),
        ] as [([DownloadRecord.State], [DownloadRecord.State], Bool)]
    )
    func renditionsAreRemovedUnlessAnotherDownloadNeedsThem(
        own: [DownloadRecord.State],
        others: [DownloadRecord.State],
        isRemoved: Bool
    ) throws {
        let other = try temporary.enter("B", from: "other.m3u8")
        for state in own { try addDownload(state, of: id) }
        for state in others { try addDownload(state, of: other) }
        try library.removeUnstoredRenditions(addedTo: former)
        #expect(try folders() == (isRemoved ? ["variant-0"] : ["variant-0", "audio-0", "audio-1"]))
        #expect(try selection() == (isRemoved ? "all" : "more"))
    }

    @Test func renditionWithAStoredFileStaysWithTheSelection() throws {
        let missing = try library.missingResources(id)
        try temporary.store(missing.filter { $0.path == "audio-0/000001.ts" }, of: id)
        try library.removeUnstoredRenditions(addedTo: former)
        #expect(try folders() == ["variant-0", "audio-0"] && selection() == "more")
    }

    @Test(arguments: [(6, true), (1, true), (0, false)] as [(Int64, Bool)])
    func renditionWithAnUnfinishedFileStays(count: Int64, isUsed: Bool) throws {
        let resource = try #require(try library.missingResources(id).first { $0.path == "audio-1/000000.ts" })
        let version = ResourceVersion(TransportRequest.Resumption(offset: 0, validator: "v"))
        let note = UnfinishedFile(resource, version, count: count, checksum: 5, boot: nil)
        try Data(note.bytes).write(to: temporary.url("audio-1/000000.ts.resume", of: id))
        try library.removeUnstoredRenditions(addedTo: former)
        #expect(try folders() == (isUsed ? ["variant-0", "audio-1"] : ["variant-0"]))
        #expect(try selection() == (isUsed ? "more" : "all"))
    }

    @Test func renditionsThatAllHaveFilesStay() throws {
        let missing = try library.missingResources(id)
        try temporary.store(missing.filter { $0.path.hasPrefix("audio-") }, of: id)
        _ = temporary.files.takeLines()
        try library.removeUnstoredRenditions(addedTo: former)
        #expect(temporary.files.takeLines().isEmpty)
        #expect(try folders().count == 3 && selection() == "more")
    }

    /// The playlists of the asset were edited as its selection says.
    @Test(arguments: [("all&edit=a", "all&edit=a"), ("other", "all")])
    func selectionStaysIfOnlyOneOfThemHasEdits(current: String, remaining: String) throws {
        try library.setSelection(current, title: nil, of: id)
        try library.removeUnstoredRenditions(addedTo: former)
        #expect(try folders() == ["variant-0"] && selection() == remaining)
    }

    @Test func assetIsNotLeftWithoutRenditions() throws {
        for folders: Set<String> in [[], ["variant-0", "audio-0", "audio-1"], ["other"]] {
            let plan = FormerPlan(id: id, selection: "all", folders: folders)
            try library.removeUnstoredRenditions(addedTo: plan)
            #expect(try self.folders().count == 3 && selection() == "more")
        }
    }
}

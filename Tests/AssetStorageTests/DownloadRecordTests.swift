import Foundation
import GRDB
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the downloads of sessions in the catalog, and how processes claim them.
@Suite struct DownloadRecordTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        let temporary = try TemporaryLibrary()
        id = try temporary.enter()
        self.temporary = temporary
    }

    private var library: AssetLibrary { temporary.library }

    private func execute(_ sql: String) throws {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        try database.write { try $0.execute(sql: sql) }
    }

    private func add(
        _ name: String,
        session: String = "films",
        state: DownloadRecord.State = .waiting,
        asset: String? = nil
    ) throws {
        try library.addDownload(
            DownloadRecord(
                id: name,
                session: session,
                assetID: asset ?? id,
                source: ResourceAddress("https://h/\(name)"),
                details: "details of \(name)",
                options: Data("options".utf8),
                artwork: Data("artwork".utf8),
                state: state,
                priority: 3,
                creationTime: 5
            )
        )
    }

    private func download(_ name: String) throws -> DownloadRecord {
        try #require(try library.downloads().first { $0.id == name })
    }

    // MARK: Catalog

    @Test func downloadsAreThoseOfASession() throws {
        try add("b")
        try add("a")
        try add("c", session: "series")
        #expect(try library.downloads().map(\.id) == ["b", "a", "c"])
        #expect(try library.downloads(of: "films").map(\.id) == ["b", "a"])
        #expect(try library.downloads(of: "series").map(\.id) == ["c"])
        #expect(try library.downloads(of: "none").isEmpty)
        #expect(try library.downloadSessionIdentifiers == ["films", "series"])
        let record = try download("b")
        #expect(record.session == "films" && record.assetID == id && record.source.text == "https://h/b")
        #expect(record.details == "details of b" && record.options == Data("options".utf8))
        #expect(record.artwork == Data("artwork".utf8) && record.state == .waiting && record.failure == nil)
        #expect(record.priority == 3 && record.creationTime == 5 && record.folders == nil)
        try library.removeDownload("b")
        #expect(try library.downloads().map(\.id) == ["a", "c"])
        try library.delete(id)
        #expect(try library.downloads().isEmpty)
    }

    @Test func largeColumnsOfKnownDownloadsAreLeftOut() throws {
        try add("a")
        try add("b")
        let records = try library.downloads(omittingOptionsOf: ["a", "none", "' OR 1 --"])
        #expect(records.map(\.options) == [Data(), Data("options".utf8)])
        #expect(records.map(\.artwork) == [nil, Data("artwork".utf8)])
        #expect(records.map(\.details) == ["details of a", "details of b"])
    }

    @Test func changesAreThoseOfOneDownload() throws {
        for name in ["a", "b"] { try add(name) }
        let failure = DownloadRecord.Failure(code: "code", detail: "detail", message: "message")
        try library.changeDownload("a", .state(.failed, failure))
        try library.changeDownload("a", .priority(9))
        try library.changeDownload("a", .details("other"))
        try library.changeDownload("a", .options(Data("new".utf8), artwork: nil))
        try library.changeDownload("a", .folders(["video", "audio"], selection: 1))
        try library.changeDownload("a", .session("series"))
        try library.changeDownload("none", .priority(7))
        let changed = try download("a")
        #expect(changed.state == .failed && changed.failure == failure && changed.priority == 9)
        #expect(changed.details == "other" && changed.options == Data("new".utf8) && changed.artwork == nil)
        #expect(changed.folders == ["audio", "video"] && changed.session == "series")
        #expect(changed.selectionNumber == 1)
        let other = try download("b")
        #expect(other.state == .waiting && other.failure == nil && other.priority == 3 && other.folders == nil)
        #expect(other.selectionNumber == 0)
        #expect(try library.downloads(of: "films").map(\.id) == ["b"])
        try library.changeDownload("a", .state(.waiting, nil))
        #expect(try download("a").failure == nil)
    }

    /// The error of a download that has failed is not lost by a request to pause it.
    @Test func failedDownloadIsNotSuspended() throws {
        for name in ["a", "b"] { try add(name) }
        let failure = DownloadRecord.Failure(code: "code", detail: "detail", message: "message")
        try library.changeDownload("a", .state(.failed, failure))
        for name in ["a", "b"] { try library.changeDownload(name, .suspension) }
        #expect(try download("a").state == .failed && download("a").failure == failure)
        #expect(try download("b").state == .suspended && download("b").failure == nil)
    }

    /// A newer version may write states that this version does not know.
    @Test func unknownStateIsNotActedOn() throws {
        try add("a")
        try execute("UPDATE download SET state = 'new', failureCode = 'code'")
        let record = try download("a")
        #expect(record.state == .suspended)
        #expect(record.failure == DownloadRecord.Failure(code: "code", detail: "code", message: ""))
        // Its asset is not evicted.
        #expect(try library.catalog.read { try DownloadRecord.fetchPendingAssets($0) } == [id])
    }

    // MARK: Claims

    @Test func downloadIsManagedByOneProcess() throws {
        let other = try AssetLibrary(directory: temporary.directory)
        let reader = try AssetLibrary(reading: temporary.directory)
        #expect(!library.isDownloadClaimed("a"))
        #expect(reader.claimDownload("a") == nil)
        #expect(!FileManager.default.fileExists(atPath: temporary.directory.path + "/claims"))
        var claim = library.claimDownload("a")
        #expect(claim != nil)
        #expect(library.isDownloadClaimed("a") && other.isDownloadClaimed("a") && reader.isDownloadClaimed("a"))
        #expect(!library.isDownloadClaimed("b"))
        #expect(other.claimDownload("a") == nil && library.claimDownload("a") == nil)
        for (name, mode) in [("claims", 0o700), ("claims/a", 0o600)] {
            let path = temporary.directory.path + "/" + name
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
        withExtendedLifetime(claim) {}
        claim = nil
        #expect(!other.isDownloadClaimed("a"))
        // Looking for a claim holds nothing.
        #expect(other.claimDownload("a") != nil)
    }

    @Test func claimsHaveTheNamesOfDownloads() throws {
        for name in ["../a", "", "A"] {
            #expect(library.claimDownload(name) == nil)
            #expect(!library.isDownloadClaimed(name))
        }
        try add("a")
        let claim = library.claimDownload("a")
        withExtendedLifetime(claim) {}
        let folder = temporary.directory.path + "/claims"
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
        try library.removeDownload("a")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    /// A download is running if a process has claimed it, and it is neither suspended nor ended.
    @Test(arguments: DownloadRecord.State.allCases) func runningDownloadIsWaitingAndClaimed(
        state: DownloadRecord.State
    ) throws {
        let other = try temporary.enter(from: "other.m3u8")
        try add("a", state: state)
        #expect(try !library.isDownloadRunning(ofAsset: id))
        let claim = library.claimDownload("a")
        #expect(try library.isDownloadRunning(ofAsset: id) == (state == .waiting))
        #expect(try !library.isDownloadRunning(ofAsset: other) && !library.isDownloadRunning(ofAsset: nil))
        withExtendedLifetime(claim) {}
    }
}

import Foundation
import MediaTiming
import Testing

@testable import AssetStorage

/// Tests the expiration of assets while the system clock jumps forward and back by hours.
@Suite struct ClockJumpTests {
    private static let hour = 3_600.0
    /// The time at which the assets expire, two hours after the start.
    private static let expiration = Date(timeIntervalSince1970: 1_700_000_000 + 2 * hour)
    /// The times that the system clock has, one after the other.
    private static let jumps = [0, 5, -20, 1_000_000, 1].map { Date(timeIntervalSince1970: 1_700_000_000 + $0 * hour) }

    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "a.ts", "#EXTINF:4,", "b.ts")
        id = try temporary.planned(playlist)
        try temporary.library.setStoragePolicy(StoragePolicy(expirationDate: Self.expiration), of: id)
    }

    private var library: AssetLibrary { temporary.library }

    private func remaining() throws -> [String] { try library.assets().map(\.id) }

    /// Applies the policy at each of the times, as a session does every minute.
    private func jump() throws {
        for now in Self.jumps { #expect(try library.applyStoragePolicy(now: now).entries.isEmpty) }
    }

    @Test func assetDoesNotExpireWhileItIsDownloaded() throws {
        let lock = try library.lock(id)
        try temporary.store(Array(library.missingResources(id).prefix(1)), of: id)
        try jump()
        withExtendedLifetime(lock) {}
        #expect(try remaining() == [id])
    }

    @Test(arguments: [DownloadRecord.State.waiting, .suspended])
    func assetDoesNotExpireBeforeItsDownloadContinues(
        state: DownloadRecord.State
    ) throws {
        try library.addDownload(
            DownloadRecord.films(
                of: id,
                from: library.asset(id).source,
                state: state,
                created: Self.jumps[3].timeIntervalSince1970
            )
        )
        try jump()
        #expect(try remaining() == [id])
    }

    /// The clock is right again when the download has ended.
    @Test func clockThatWasWrongDuringTheDownloadDeletesNothingAfterward() throws {
        do {
            let lock = try library.lock(id)
            try jump()
            try temporary.complete(id)
            withExtendedLifetime(lock) {}
        }
        #expect(try library.applyStoragePolicy(now: Self.jumps[4]).entries.isEmpty)
        #expect(try remaining() == [id])
        let plan = try library.applyStoragePolicy(now: Self.expiration)
        #expect(plan.entries.map(\.id) == [id] && plan.entries.map(\.reason) == [.expired])
    }
}

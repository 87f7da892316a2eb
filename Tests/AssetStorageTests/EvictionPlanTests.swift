import AssetStorage
import Foundation
import MediaTiming
import ReportFormat
import Testing

@Suite struct EvictionPlanTests {
    private static let now = Date(timeIntervalSince1970: 1_000)

    /// A candidate with an age order, a size, and a policy.
    private static func candidate(
        _ id: String,
        created: Int,
        _ bytes: Int64,
        _ priority: StoragePolicy.Priority = .standard,
        expires: Double? = nil,
        isPinned: Bool = false,
        isInUse: Bool = false,
        shared: [(number: UInt64, bytes: ByteCount, names: UInt64, links: UInt64)] = []
    ) -> EvictionCandidate {
        let policy = StoragePolicy(
            priority: priority,
            expirationDate: expires.map { Date(timeIntervalSince1970: $0) },
            isPinned: isPinned
        )
        return EvictionCandidate(
            id: id,
            title: id,
            order: created,
            usage: DiskUsage(freeableBytes: ByteCount(bytes), shared: shared),
            policy: policy,
            isInUse: isInUse
        )
    }

    /// Two plain assets, an important one, and one of each kind that is never evicted.
    private static let library = [
        candidate("new", created: 30, 40),
        candidate("important", created: 1, 100, .important),
        candidate("old", created: 10, 20),
        candidate("pinned", created: 2, 1_000, expires: 5, isPinned: true),
        candidate("playing", created: 3, 1_000, expires: 5, isInUse: true),
    ]

    struct Case: Sendable {
        var quota: Int64?
        var floor: Int64 = 0
        var need: Int64 = 0
        var used: Int64 = 2_160
        var free: Int64? = 50
        var evicted: [String]
        var shortfall: Int64 = 0
        var insufficient: [String] = []
    }

    @Test(arguments: [
        Case(evicted: []),
        Case(need: 50, evicted: []),
        Case(need: 51, evicted: ["old:need"]),
        Case(need: 70, evicted: ["old:need"]),
        // The old asset is not deleted, because the new one frees enough alone.
        Case(need: 90, evicted: ["new:need"]),
        Case(need: 91, evicted: ["old:need", "new:need"]),
        Case(need: 111, evicted: ["important:need"]),
        Case(need: 210, evicted: ["old:need", "new:need", "important:need"]),
        // A need that cannot be satisfied deletes no asset.
        Case(need: 211, evicted: [], shortfall: 1, insufficient: ["old:need", "new:need", "important:need"]),
        Case(
            floor: 60,
            need: 211,
            evicted: ["old:limits"],
            shortfall: 61,
            insufficient: ["new:need", "important:need"]
        ),
        Case(need: .max, free: nil, evicted: []),
        Case(quota: 2_160, evicted: []),
        Case(quota: 2_159, evicted: ["old:limits"]),
        Case(quota: 2_160, need: 10, evicted: ["old:need"]),
        // Limits that cannot be satisfied are approached as far as possible.
        Case(quota: 1_000, evicted: ["old:limits", "new:limits", "important:limits"], shortfall: 1_000),
        Case(floor: 60, evicted: ["old:limits"]),
        Case(floor: 60, need: 41, evicted: ["old:limits", "new:need"]),
        Case(need: 10, free: 0, evicted: ["old:need"]),
    ])
    func planFreesWhatLimitsAndNeedRequire(_ given: Case) {
        let plan = EvictionPlan(
            candidates: Self.library,
            limits: StorageLimits(quota: given.quota.map { ByteCount($0) }, minimumFreeSpace: ByteCount(given.floor)),
            need: ByteCount(given.need),
            usedBytes: ByteCount(given.used),
            freeBytes: given.free.map { ByteCount($0) },
            now: Self.now
        )
        #expect(plan.entries.map { "\($0.id):\($0.reason.rawValue)" } == given.evicted)
        #expect(plan.shortfall == ByteCount(given.shortfall))
        #expect(plan.insufficientEntries.map { "\($0.id):\($0.reason.rawValue)" } == given.insufficient)
    }

    @Test func expiredAssetsAreEvictedFirstAndCountTowardsTheNeed() {
        let plan = EvictionPlan(
            candidates: [
                Self.candidate("plain", created: 1, 10),
                Self.candidate("expired", created: 2, 10, .important, expires: 1_000),
                Self.candidate("valid", created: 0, 10, expires: 1_001),
            ],
            limits: StorageLimits(),
            need: ByteCount(20),
            usedBytes: ByteCount(30),
            freeBytes: .zero,
            now: Self.now
        )
        #expect(plan.entries.map(\.id) == ["expired", "valid"])
        #expect(plan.entries.map(\.reason) == [.expired, .need])
        #expect(plan.freedBytes == ByteCount(20))
    }

    /// Two assets that share a file of 100 bytes, one with a part of its own, and a small one.
    private static let sharing = [
        candidate("a", created: 1, 5, shared: [(7, ByteCount(100), 1, 2)]),
        candidate("small", created: 2, 10),
        candidate("b", created: 3, .zero, shared: [(7, ByteCount(100), 1, 2)]),
        candidate("elsewhere", created: 4, .zero, shared: [(8, ByteCount(1_000), 1, 2)]),
    ]

    @Test(arguments: [
        (Int64(5), ["a:5"], Int64(0)),
        (6, ["small:10"], 0),
        (15, ["a:5", "small:10"], 0),
        // The second name of the shared file frees it.
        (16, ["a:5", "b:100"], 0),
        (115, ["a:5", "small:10", "b:100"], 0),
        (116, [], 1),
    ])
    func fileThatAssetsShareIsFreedWithTheLastOfThem(need: Int64, evicted: [String], shortfall: Int64) {
        let plan = EvictionPlan(
            candidates: Self.sharing,
            limits: StorageLimits(),
            need: ByteCount(need),
            usedBytes: ByteCount(1_115),
            freeBytes: .zero,
            now: Self.now
        )
        #expect(plan.entries.map { "\($0.id):\($0.freedBytes.bytes)" } == evicted)
        #expect(plan.shortfall == ByteCount(shortfall))
    }

    /// Assets that cannot be enough are listed apart from those that are deleted, and not at all if nothing can be deleted.
    @Test func assetsThatAreNotEnoughAreReportedApart() {
        func plan(_ candidates: [EvictionCandidate]) -> EvictionPlan {
            EvictionPlan(
                candidates: candidates,
                limits: StorageLimits(),
                need: ByteCount(116),
                usedBytes: ByteCount(1_115),
                freeBytes: .zero,
                now: Self.now
            )
        }
        let insufficient = plan(Self.sharing)
        #expect(insufficient.entries.isEmpty && insufficient.freedBytes == .zero)
        let entries = insufficient.insufficientEntries.map { "\($0.id):\($0.freedBytes.bytes)" }
        #expect(entries == ["a:5", "small:10", "b:100"])
        #expect(insufficient.insufficientBytes == ByteCount(115))
        #expect(
            insufficient.report.json.hasPrefix(
                #"{"evicted":[],"freed":0,"shortfall":1,"insufficient":[{"id":"a","title":"a","freed":5,"reason":"need"},"#
            ),
            "\(insufficient.report.json)"
        )
        let impossible = plan([Self.candidate("pinned", created: 1, 10, isPinned: true)])
        #expect(impossible.report.json == #"{"evicted":[],"freed":0,"shortfall":116}"#)
    }

    /// A package can have several names of a file.
    @Test(
        arguments: [
            (Int64(3), ["a:1", "b:2"]), (4, ["a:1", "c:3"]), (7, ["a:1", "b:2", "c:103"]),
            (106, ["a:1", "b:2", "c:103"]),
            (107, []),
        ] as [(Int64, [String])]
    )
    func fileIsFreedWhenAllItsNamesAreDeleted(need: Int64, evicted: [String]) {
        let plan = EvictionPlan(
            candidates: [
                Self.candidate("c", created: 3, 3, shared: [(7, ByteCount(100), 1, 4)]),
                Self.candidate("a", created: 1, 1, shared: [(7, ByteCount(100), 2, 4)]),
                Self.candidate("b", created: 2, 2, shared: [(7, ByteCount(100), 1, 4)]),
            ],
            limits: StorageLimits(),
            need: ByteCount(need),
            usedBytes: ByteCount(1_000),
            freeBytes: .zero,
            now: Self.now
        )
        #expect(plan.entries.map { "\($0.id):\($0.freedBytes.bytes)" } == evicted)
        #expect(plan.shortfall == (evicted.isEmpty ? ByteCount(1) : .zero))
    }

    @Test func limitThatCannotBeSatisfiedDeletesOnlyWhatFreesSpace() {
        let plan = EvictionPlan(
            candidates: Self.sharing,
            limits: StorageLimits(quota: ByteCount(1)),
            need: .zero,
            usedBytes: ByteCount(1_115),
            freeBytes: nil,
            now: Self.now
        )
        #expect(plan.entries.map(\.id) == ["a", "small", "b"])
        #expect(plan.freedBytes == ByteCount(115) && plan.shortfall == ByteCount(999))
        #expect(plan.insufficientEntries.isEmpty)
    }
}

import AssetStorage
import Foundation
import MediaTiming
import Testing

/// Tests how eviction counts files with more names than one package has.
@Suite struct EvictionPlanFaultTests {
    /// A candidate that frees a number of bytes, and has one of two names of a file of 100 bytes if it shares one.
    private static func candidate(
        _ id: String,
        order: Int,
        _ bytes: Int64,
        isSharing: Bool = true
    ) -> EvictionCandidate {
        let shared: [(number: UInt64, bytes: ByteCount, names: UInt64, links: UInt64)] =
            isSharing ? [(number: 7, bytes: ByteCount(100), names: 1, links: 2)] : []
        return EvictionCandidate(
            id: id,
            title: id,
            order: order,
            usage: DiskUsage(freeableBytes: ByteCount(bytes), shared: shared),
            policy: StoragePolicy(),
            isInUse: false
        )
    }

    /// Returns the deletions of a plan, and the number of bytes that it cannot free.
    private static func entries(
        _ candidates: [EvictionCandidate],
        quota: Int64,
        need: Int64
    ) -> [String] {
        let plan = EvictionPlan(
            candidates: candidates,
            limits: StorageLimits(quota: ByteCount(quota)),
            need: ByteCount(need),
            usedBytes: ByteCount(1_000),
            freeBytes: nil,
            now: Date(timeIntervalSince1970: 1_000)
        )
        let entries = plan.entries.map { "\($0.id):\($0.reason.rawValue):\($0.freedBytes.bytes)" }
        return entries + ["missing:\(plan.shortfall.bytes)"]
    }

    /// An asset that the limits do not require, but the need does, has not freed its shared file before.
    @Test func retainedAssetFreesItsSharedFileOnce() {
        let candidates = [
            Self.candidate("a", order: 1, 5),
            Self.candidate("b", order: 2, 10, isSharing: false),
            Self.candidate("c", order: 3, 0),
        ]
        #expect(Self.entries(candidates, quota: 994, need: 0) == ["b:limits:10", "missing:0"])
        let expected = ["b:limits:10", "a:need:5", "c:need:100", "missing:0"]
        #expect(Self.entries(candidates, quota: 994, need: 10) == expected)
    }

    /// A name that was added after the file was counted frees nothing.
    @Test func fileIsFreedOnceIfItHasMoreNamesThanLinks() {
        let candidates = [
            Self.candidate("a", order: 1, 1), Self.candidate("b", order: 2, 2), Self.candidate("c", order: 3, 3),
        ]
        let expected = ["a:limits:1", "b:limits:102", "c:limits:3", "missing:0"]
        #expect(Self.entries(candidates, quota: 894, need: 0) == expected)
    }
}

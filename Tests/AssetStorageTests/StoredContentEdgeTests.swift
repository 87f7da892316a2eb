import Foundation
import GRDB
import MediaTiming
import Testing

@testable import AssetStorage

/// Tests the loaded time ranges of an asset, and the limits of the rules for its space.
@Suite struct StoredContentEdgeTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// A rendition of which the media up to a time is stored.
    private static func rendition(
        _ role: StoredRendition.Role,
        _ language: String? = nil,
        loaded: Int64,
        of duration: Int64 = 8
    ) -> StoredRendition {
        StoredRendition(
            role: role,
            folder: "f",
            language: language,
            bandwidth: nil,
            width: nil,
            height: nil,
            codecs: [],
            loadedTimeRanges: MediaTimeRangeSet([
                MediaTimeRange(start: .zero, end: MediaTime(seconds: loaded))
            ]),
            duration: MediaTime(seconds: duration),
            isComplete: loaded == duration,
            audioLanguages: [],
            subtitleLanguages: [],
            averageBitRate: nil
        )
    }

    private static let playable: [([StoredRendition], Int64?)] = [
        ([], nil), ([rendition(.iFrames, loaded: 8)], nil),
        ([rendition(.variant, loaded: 8), rendition(.iFrames, loaded: 2)], 8),
        // An incomplete rendition counts unless a complete one can be played instead of it.
        ([rendition(.variant, loaded: 8), rendition(.variant, loaded: 4)], 8),
        ([rendition(.variant, loaded: 6), rendition(.variant, loaded: 4)], 4),
        ([rendition(.variant, loaded: 8), rendition(.audio, loaded: 2)], 2),
        ([rendition(.variant, "en", loaded: 8), rendition(.variant, "fr", loaded: 4)], 8),
        ([rendition(.variant, loaded: 8), rendition(.audio, "en", loaded: 8), rendition(.audio, "en", loaded: 2)], 8),
        ([rendition(.variant, loaded: 8), rendition(.audio, "en", loaded: 8), rendition(.audio, "fr", loaded: 2)], 2),
        ([rendition(.variant, loaded: 8), rendition(.subtitles, loaded: 8), rendition(.audio, loaded: 3)], 3),
        // After its end, a shorter rendition needs no media.
        ([rendition(.variant, loaded: 8), rendition(.audio, loaded: 6, of: 6)], 8),
    ]

    @Test(arguments: playable)
    func commonTimeRangesAreThoseOfWhatIsPlayed(renditions: [StoredRendition], end: Int64?) {
        let expected = end.map {
            MediaTimeRangeSet([MediaTimeRange(start: .zero, end: MediaTime(seconds: $0))])
        }
        #expect(StoredRendition.commonTimeRanges(of: renditions) == expected ?? MediaTimeRangeSet())
    }

    @Test func onlyKeysHaveAKnownSize() {
        for (kind, size) in [
            (.key, 16), (.longKey, 32), (.segment, nil), (.initialization, nil), (.subtitle, nil),
        ] as [(StoredResource.Kind, Int64?)] {
            #expect(kind.keySize == size)
        }
    }

    @Test func playlistOfAnUnknownRowIsAbsent() throws {
        let isPresent = try library.catalog.read { database in
            try PlaylistColumn.source.isPresent(inRow: "none", database)
        }
        #expect(!isPresent)
    }

    // MARK: Space

    /// The limits of a library are one row, which versions share.
    @Test func limitsAreOneRow() throws {
        for quota in [nil, 1_000, 2_000] as [Int64?] {
            try library.setStorageLimits(StorageLimits(quota: quota.map { ByteCount($0) }))
            let rows = try library.catalog.read { database in
                try Row.fetchAll(database, sql: "SELECT id, quota, enteredBytes FROM storageLimits").map { row in
                    let (id, quota, entered): (Int64, Int64?, Int64) = (row[0], row[1], row[2])
                    return "\(id) \(quota ?? 0) \(entered)"
                }
            }
            #expect(rows == ["1 \(quota ?? 0) 0"])
        }
    }

    @Test func freeSpaceIsNotExaminedWithoutAMinimum() {
        var state = LibrarySpace.State()
        state.limits = StorageLimits(quota: ByteCount(100))
        state.setOccupiedBytes(ByteCount(10), bytesOfOthers: 0)
        #expect(state.decision(need: ByteCount(50), freeSpace: ByteCount(10), catalogBytes: 0) == .available)
        #expect(state.decision(need: ByteCount(90), freeSpace: .zero, catalogBytes: 0) == .available)
        #expect(state.decision(need: ByteCount(91), freeSpace: .zero, catalogBytes: 0) == .measure)
    }

    /// The number of the names of a file may have changed while they were counted.
    @Test func fileWithMoreNamesThanLinksIsFreedOnce() {
        func candidate(_ id: String, _ order: Int, names: UInt64) -> EvictionCandidate {
            EvictionCandidate(
                id: id,
                title: id,
                order: order,
                usage: DiskUsage(freeableBytes: .zero, shared: [(7, ByteCount(100), names, 2)]),
                policy: StoragePolicy(),
                isInUse: false
            )
        }
        let plan = EvictionPlan(
            candidates: [candidate("a", 1, names: 2), candidate("b", 2, names: 1)],
            limits: StorageLimits(),
            need: ByteCount(101),
            usedBytes: ByteCount(1_000),
            freeBytes: .zero,
            now: Date(timeIntervalSince1970: 1_000)
        )
        #expect(plan.entries.isEmpty && plan.shortfall == ByteCount(1))
        #expect(plan.insufficientEntries.map { "\($0.id):\($0.freedBytes.bytes)" } == ["a:100"])
    }

    // MARK: Names

    private static func record(_ position: Int, _ path: String) -> ResourceRecord {
        ResourceRecord(
            assetID: "id",
            renditionID: 1,
            position: position,
            kind: .segment,
            address: TemporaryLibrary.origin + "0.ts",
            path: path,
            start: "0",
            duration: "4"
        )
    }

    @Test func usualPathIsThatOfAPosition() throws {
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts", "#EXTINF:4,", "1.ts")
        let plan = PackagePlan(folder: "f", role: .variant, playlist: playlist)
        for (position, path, isUsual) in [
            (0, "f/000000.ts", true), (1, "f/000001.ts", true), (0, "f/000001.ts", false), (0, "f/other.ts", false),
            (-1, "f/000000.ts", false), (2, "f/000002.ts", false),
        ] {
            #expect(plan.usesUsualPath(Self.record(position, path)) == isUsual)
        }
    }

    /// Each byte of the name of a key has two digits.
    @Test func keyHasTheNameOfItsKind() throws {
        let playlist = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key60""#,
            "#EXTINF:4,",
            "0.ts",
            #"#EXT-X-KEY:METHOD=AES-256-GCM,URI="key60""#,
            "#EXTINF:4,",
            "1.ts"
        )
        var files: [String] = []
        PackagePlan(folder: "f", role: .variant, playlist: playlist)
            .forEachResource { file in
                if file.position < 0 { files.append("\(file.kind.rawValue) \(file.path)") }
            }
        #expect(
            files == [
                "key f/key-3e973e42f6ef2b634a7ab8a7b8241005.key",
                "longKey f/key-3e973e42f6ef2b634a7ab8a7b8241005-256.key",
            ]
        )
    }
}

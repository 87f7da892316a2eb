import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The stored part of an asset, as the catalog lists it.
///
/// It is computed from the catalog rows of all files, which takes long for many assets, and therefore stored with the
/// summary of the asset.
struct StoredContent {
    /// The media playlists of the asset.
    let renditions: [StoredRendition]
    /// The total size of the stored files.
    let bytes: ByteCount
    /// A Boolean value that indicates whether a variant can be played without the origin.
    let isPlayable: Bool

    init(renditions: [StoredRendition], bytes: ByteCount, isPlayable: Bool) {
        self.renditions = renditions
        self.bytes = bytes
        self.isPlayable = isPlayable
    }

    /// Creates the content of an asset from the catalog rows of its files.
    init(of id: String, _ database: Database) throws {
        let records = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
        let stored = try records.map { try StoredRendition.Content($0, database) }
        let renditions = stored.map(\.rendition)
        self.init(
            renditions: renditions,
            bytes: stored.reduce(.zero) { $0 + $1.bytes },
            isPlayable: try !AssetLibrary.playableFolders(of: id, renditions, database).isEmpty
        )
    }
}

extension StoredAsset {
    /// Creates a snapshot from the catalog record of an asset and its stored part.
    init(_ record: AssetRecord, _ content: StoredContent) {
        self.init(
            id: record.id,
            title: record.title,
            source: ResourceAddress(record.source),
            state: record.state == .complete ? .complete : .partial,
            duration: content.renditions.map(\.duration).max(),
            bytes: content.bytes,
            renditions: content.renditions,
            loadedTimeRanges: StoredRendition.commonTimeRanges(of: content.renditions),
            path: "packages/\(record.id)",
            selection: record.selection,
            isPlayableOffline: content.isPlayable
        )
    }
}

extension StoredRendition {
    /// The stored part of a rendition.
    fileprivate struct Content {
        let rendition: StoredRendition
        /// The number of stored bytes.
        let bytes: ByteCount

        /// Returns the parts of a text that commas separate.
        private static func list(_ text: String?) -> [String] { (text ?? "").split(separator: ",").map(String.init) }

        /// Returns the average bit rate of stored media; `nil` if there is none.
        private static func averageBitRate(_ bytes: ByteCount, _ seconds: Double) -> BitRate? {
            guard bytes > .zero, seconds > 0 else { return nil }
            return BitRate(saturating: Double(bytes.bytes) * 8 / seconds)
        }

        /// Returns the duration and the gaps of a media playlist, which is released before the rows of its files are read.
        private static func properties(
            ofPlaylistOf record: RenditionRecord,
            _ database: Database
        ) -> (duration: MediaTime, gaps: [MediaTimeRange]) {
            guard let playlist = try? MediaPlaylist(parsing: record.entirePlaylist(database)) else {
                return (.zero, [])
            }
            return (playlist.duration, Array(playlist.segments.lazy.filter(\.isGap).map(\.timeRange)))
        }

        /// Creates the content from the catalog, one row at a time, because a rendition may have a million files.
        init(_ record: RenditionRecord, _ database: Database) throws {
            let playlist = Self.properties(ofPlaylistOf: record, database)
            // Gaps count as loaded, because they have no media at the origin.
            var gaps = playlist.gaps[...]
            var loaded = MediaTimeRangeSet()
            var bytes = ByteCount.zero
            var isComplete = true
            var (segmentBytes, seconds) = (ByteCount.zero, 0.0)
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT position, start, duration, bytes FROM resource WHERE renditionID = ? ORDER BY id",
                arguments: [record.id]
            )
            while let row = try rows.next() {
                let position: Int = row["position"]
                guard let size: Int64 = row["bytes"] else {
                    isComplete = false
                    continue
                }
                bytes += ByteCount(size)
                // A file that several segments share has an empty time range.
                guard let range = MediaTimeRange(start: row["start"], duration: row["duration"]) else { continue }
                if position >= 0 {
                    segmentBytes += ByteCount(size)
                    seconds += range.duration.seconds
                }
                // Gaps are inserted in the order of time, so that each range is appended at the end of the set.
                while let gap = gaps.first, gap.start <= range.start {
                    loaded.insert(gap)
                    gaps.removeFirst()
                }
                loaded.insert(range)
            }
            for gap in gaps { loaded.insert(gap) }
            rendition = StoredRendition(
                role: record.role,
                folder: record.folder,
                language: record.language,
                bandwidth: record.bandwidth.map { BitRate(bitsPerSecond: $0) },
                width: record.width,
                height: record.height,
                codecs: Self.list(record.codecs),
                loadedTimeRanges: loaded,
                duration: playlist.duration,
                isComplete: isComplete,
                audioLanguages: Self.list(record.audioLanguages),
                subtitleLanguages: Self.list(record.subtitleLanguages),
                averageBitRate: record.role == .variant && record.bandwidth == nil
                    ? Self.averageBitRate(segmentBytes, seconds) : nil
            )
            self.bytes = bytes
        }
    }

    /// Returns the time ranges that every rendition has stored; after its end, a shorter rendition counts as stored.
    ///
    /// I-frames do not count, because the presentation is played without them. Neither do incomplete variants beside a
    /// complete one, such as those of an abandoned download, nor their audio and subtitles, because the complete one is
    /// played with its own.
    static func commonTimeRanges(of renditions: [StoredRendition]) -> MediaTimeRangeSet {
        let complete = renditions.filter(\.isComplete)
        let renditions = renditions.filter { rendition in
            rendition.role != .iFrames && (rendition.isComplete || !complete.contains { $0.replaces(rendition) })
        }
        guard let end = renditions.map(\.duration).max() else { return MediaTimeRangeSet() }
        return renditions.reduce(MediaTimeRangeSet([MediaTimeRange(start: .zero, end: end)])) { common, rendition in
            var loaded = rendition.loadedTimeRanges
            loaded.insert(MediaTimeRange(start: rendition.duration, end: end))
            return common.intersection(loaded)
        }
    }

    /// Returns a Boolean value that indicates whether this rendition is played in place of another one: a variant in place of
    /// any other, and audio or subtitles in place of those in the same language, such as those of another quality.
    private func replaces(_ other: StoredRendition) -> Bool {
        role == other.role && (role == .variant || LanguageMatching.isSame(language, other.language))
    }
}

extension MediaTimeRange {
    /// Creates a time range from the decimal numbers in the catalog; `nil` if a text is not a decimal number.
    init?(start: String, duration: String) {
        guard let start = MediaTime(decimal: start), let duration = MediaTime(decimal: duration) else { return nil }
        self.init(start: start, duration: duration)
    }
}

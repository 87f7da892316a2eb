import GRDB
package import HLSPlaylist

extension AssetLibrary {
    /// Returns the audio and subtitles renditions that the stored variants of an asset offer, in the order of the source,
    /// and whether all files of each are stored.
    package func offeredRenditions(of id: String) throws -> [(rendition: Rendition, isStored: Bool)] {
        let (source, variants, complete) = try catalog.read { database in
            let source = try Self.record(id, database).sourcePlaylist
            let records = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
            var complete: Set<Int> = []
            for record in records where record.role.list == .renditions {
                let missing = try ResourceRecord.filter(Column("renditionID") == record.id)
                    .filter(Column("bytes") == nil).fetchCount(database)
                if missing == 0 { complete.formUnion(record.positions) }
            }
            return (source, records.filter { $0.role == .variant }.flatMap(\.positions), complete)
        }
        guard let source, let playlist = try? MultivariantPlaylist(parsing: Array(source)) else { return [] }
        let stored = variants.filter { playlist.variants.indices.contains($0) }.map { playlist.variants[$0] }
        return playlist.renditions.enumerated().compactMap { position, rendition in
            guard let type = rendition.type, type == .audio || type == .subtitles, rendition.uri != nil,
                stored.contains(where: { $0.groupID(type) == rendition.groupID })
            else { return nil }
            return (rendition, complete.contains(position))
        }
    }
}

import AssetStorage
import Foundation
import ResourceAddressing

extension DownloadRecord {
    /// Returns the record of a download of the session "films", without options and artwork.
    static func films(
        id: String = AssetLibrary.newDownloadIdentifier(),
        of assetID: String,
        from source: ResourceAddress,
        state: State,
        created creationTime: Double = 0
    ) -> DownloadRecord {
        DownloadRecord(
            id: id,
            session: "films",
            assetID: assetID,
            source: source,
            details: "",
            options: Data(),
            artwork: nil,
            state: state,
            priority: 0,
            creationTime: creationTime
        )
    }
}

import AssetStorage
import MediaTransport
import ResourceAddressing

@testable import MillstreamDownloads

extension TemporaryLibrary {
    /// Creates a session with its own library object, as in another process, which does not repeat failed requests.
    func session(
        _ identifier: String,
        _ transport: any Transport,
        resumesAutomatically: Bool = true
    ) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = resumesAutomatically
        return try DownloadSession(
            identifier: identifier,
            library: try AssetLibrary(directory: directory),
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
    }

    /// Creates the runner of a session that resumes no task; only the test itself reads the catalog.
    func runner(_ identifier: String, _ transport: any Transport) -> SessionRunner {
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = false
        return SessionRunner(
            identifier: identifier,
            library: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: StoppedTime()
        )
    }

    /// Adds a record of a paused download, which no process manages, to the catalog.
    func addRecord(
        _ id: String,
        of assetID: String,
        source: ResourceAddress,
        session: String = "terminal",
        _ configuration: DownloadConfiguration = DownloadConfiguration()
    ) throws {
        try library.addDownload(
            DownloadRecord(
                id: id,
                session: session,
                assetID: assetID,
                source: source,
                details: configuration.details,
                options: try configuration.stored,
                artwork: configuration.artwork,
                state: .suspended,
                priority: configuration.priority,
                creationTime: 0
            )
        )
    }
}

import AssetStorage
import MediaTransport
import MillstreamDownloads

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
}

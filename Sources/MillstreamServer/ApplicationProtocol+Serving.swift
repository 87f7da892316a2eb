import Hummingbird
import ServiceLifecycle
import UnixSignals

extension ApplicationProtocol {
    /// Serves until SIGINT, SIGTERM or the cancellation of the task, and then ends what is open in an orderly way.
    ///
    /// A cancellation that reached the connections themselves would leave idle ones open until their clients close them.
    func serve() async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [self],
                gracefulShutdownSignals: [.sigint, .sigterm],
                logger: logger
            )
        )
        let serving = Task { try await group.run() }
        try await withTaskCancellationHandler {
            try await serving.value
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
    }
}

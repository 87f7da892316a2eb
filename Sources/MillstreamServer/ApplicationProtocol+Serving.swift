import Foundation
import Hummingbird
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

extension ApplicationProtocol {
    /// Serves until SIGINT, SIGTERM or the cancellation of the task, and then ends what is open in an orderly way.
    ///
    /// A cancellation that reached the connections themselves would leave idle ones open until their clients close them.
    ///
    /// - Throws: ``ListeningError`` where the address cannot be had.
    func serve(host: String, port: Int) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [self],
                gracefulShutdownSignals: [.sigint, .sigterm],
                logger: logger
            )
        )
        let serving = Task { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await serving.value
            } onCancel: {
                Task { await group.triggerGracefulShutdown() }
            }
        } catch let error as IOError {
            throw ListeningError(host: host, port: port, code: error.errnoCode)
        } catch let error as NIOConnectionError {
            throw ListeningError(host: host, port: port, message: "the host cannot be resolved (\(error.host))")
        } catch is SocketAddressError.UnknownHost {
            throw ListeningError(host: host, port: port, message: "the host cannot be resolved")
        } catch is SocketAddressError {
            throw ListeningError(host: host, port: port, message: "the address cannot be used")
        }
    }
}

/// Why a server could not listen.
public struct ListeningError: Error, CustomStringConvertible {
    /// What happened, for people.
    public let description: String
    /// What to do, where that is known.
    public let hint: String?

    init(host: String, port: Int, message: String) {
        description = "nothing can be served at \(host.contains(":") ? "[\(host)]" : host):\(port): \(message)"
        hint = "--host wants an address of this machine"
    }

    init(host: String, port: Int, code: CInt) {
        let place = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        switch code {
        case EADDRINUSE:
            description = "nothing can be served at \(place): another program has the port"
            hint = "try another --port, or --port 0 for a free one"
        case EACCES, EPERM:
            description = "nothing can be served at \(place): ports below 1024 need privileges"
            hint = "try a --port above 1023"
        case EADDRNOTAVAIL:
            description = "nothing can be served at \(place): this machine does not have that address"
            hint = "try --host 127.0.0.1, or 0.0.0.0 for every address of this machine"
        default:
            description = "nothing can be served at \(place): \(String(cString: strerror(code)))"
            hint = nil
        }
    }
}

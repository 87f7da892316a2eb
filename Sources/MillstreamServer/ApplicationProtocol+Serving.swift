import Foundation
import Hummingbird
import NIOCore
import NIOPosix
public import ResourceAddressing
import ServiceLifecycle
import UnixSignals

extension ApplicationProtocol {
    /// Runs the server until SIGINT, SIGTERM or the cancellation of the task, then shuts it down gracefully.
    ///
    /// Cancellation of the connections themselves would leave idle ones open until their clients close them.
    ///
    /// - Throws: ``ListeningError`` if the server cannot listen at the address.
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

/// An error that explains why a server cannot listen.
public struct ListeningError: MillstreamError {
    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The server cannot listen at an address.
        case cannotListen = "cannot-listen"
    }

    /// The kind of the error.
    public var code: Code { .cannotListen }
    /// The description of the error.
    public var message: String { description }
    /// The description of the failure, for people.
    public let description: String
    /// Advice on how to solve the problem; `nil` if there is none.
    public let hint: String?

    init(host: String, port: Int, message: String) {
        description = "cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(message)"
        hint = "--host must be an address of this machine"
    }

    init(host: String, port: Int, code: CInt) {
        let endpoint = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        switch code {
        case EADDRINUSE:
            description = "cannot listen on \(endpoint): the port is in use by another program"
            hint = "try another --port, or --port 0 for a free one"
        case EACCES, EPERM:
            description = "cannot listen on \(endpoint): ports below 1024 require privileges"
            hint = "try a --port above 1023"
        case EADDRNOTAVAIL:
            description = "cannot listen on \(endpoint): this machine does not have the address"
            hint = "try --host 127.0.0.1, or 0.0.0.0 for every address of this machine"
        default:
            description = "cannot listen on \(endpoint): \(String(cString: strerror(code)))"
            hint = nil
        }
    }
}

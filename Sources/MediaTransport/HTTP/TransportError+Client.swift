import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import ResourceAddressing

extension TransportError {
    /// Converts an error of AsyncHTTPClient to a ``TransportError``, and a cancellation to `CancellationError`.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - address: The URL of the request.
    ///   - proxy: The host and the port of the proxy, which is named if no connection to it could be established.
    /// - Returns: The converted error.
    static func convertingErrors(
        _ error: any Error,
        address: ResourceAddress,
        proxy: (host: String, port: Int)? = nil
    ) -> any Error {
        if error is CancellationError || error is TransportError { return error }
        if let error = error as? HTTPClientError, error == .cancelled { return CancellationError() }
        var (code, message) = codeAndMessage(for: error)
        if let proxy, let failure = proxyFailure(error, code) {
            (code, message) = (.cannotConnect, "the proxy \(proxy.host):\(proxy.port) \(failure)")
        }
        return TransportError(code, message, address: address, cause: error)
    }

    /// Returns the failure of a proxy, as the continuation of a sentence; `nil` for a failure of the server behind it.
    private static func proxyFailure(_ error: any Error, _ code: Code) -> String? {
        switch error as? HTTPClientError {
        case .proxyAuthenticationRequired: "requires authentication"
        case .invalidProxyResponse: "refused the connection to the server"
        case .httpProxyHandshakeTimeout: "did not answer before the timeout"
        default: code == .cannotConnect ? "could not be reached" : nil
        }
    }

    private static func codeAndMessage(for error: any Error) -> (Code, String) {
        switch error {
        case let error as HTTPClientError: codeAndMessage(for: error)
        case is TooManyInformationalResponses:
            (.wrongContent, "the server sent too many informational responses before its response")
        case is NIOConnectionError: (.cannotConnect, "the connection could not be established")
        case is NIOSSLError where isWithoutTLS(error): (.cannotConnect, "the server does not use TLS")
        case is NIOSSLError, is NIOSSLExtraError: (.insecure, tlsFailure(error))
        case NIOHTTPDecompression.DecompressionError.limit:
            (.tooLarge, "the compressed body expands to more than 250 times its size")
        case is NIOHTTPDecompression.DecompressionError: (.wrongContent, "the compressed body is damaged")
        case is NIOHTTPDecompression.ExtraDecompressionError: (.connectionLost, "the compressed body is truncated")
        case HTTPParserError.invalidEOFState:
            (.connectionLost, "the server closed the connection before the end of the body")
        case is HTTPParserError: (.wrongContent, "the response is not valid HTTP")
        case let error as IOError where isConnectionFailure(error.errnoCode):
            (.cannotConnect, "the connection could not be established")
        case let error as IOError:
            (.connectionLost, "the connection was lost (\(String(cString: strerror(error.errnoCode))))")
        case is ChannelError: (.connectionLost, "the connection was lost")
        default: (.connectionLost, "the request failed")
        }
    }

    /// Returns a Boolean value that indicates whether a server answered a TLS handshake with something else.
    private static func isWithoutTLS(_ error: any Error) -> Bool {
        let text = "\(error)"
        return text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST")
    }

    /// Returns the reason of a failure of TLS in words.
    private static func tlsFailure(_ error: any Error) -> String {
        if error as? NIOSSLExtraError == .failedToValidateHostname {
            return "the certificate of the server is for another host"
        }
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("unableToValidateCertificate") {
            return "the certificate of the server is not trusted"
        }
        return "TLS failed: no secure connection to the server could be established"
    }

    /// Returns a Boolean value that indicates whether a system call failed because no connection could be established.
    private static func isConnectionFailure(_ code: CInt) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL, EACCES, EPERM].contains(code)
    }

    private static func codeAndMessage(for error: HTTPClientError) -> (Code, String) {
        switch error {
        case .connectTimeout: (.cannotConnect, "the connection could not be established before the timeout")
        case .getConnectionFromPoolTimeout:
            (.cannotConnect, "no connection to the server became available before the timeout")
        case .readTimeout: (.timedOut, "no data was received before the timeout")
        case .deadlineExceeded: (.timedOut, "the response did not continue before the timeout")
        case .invalidURL, .emptyHost, .emptyScheme: (.addressRefused, "the URL is invalid")
        case .tlsHandshakeTimeout: (.insecure, "the TLS handshake timed out")
        case .remoteConnectionClosed, .uncleanShutdown: (.connectionLost, "the server closed the connection")
        default: (.connectionLost, "the request failed")
        }
    }
}

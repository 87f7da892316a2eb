public import Foundation
import MediaTransport
import NIOSSL
public import ResourceAddressing

/// The certificate of a server, with which it speaks HTTPS.
public struct ServerCertificate: Sendable {
    /// TLS 1.2 or later (RFC 8996), for HTTP/1.1.
    let configuration: TLSConfiguration

    /// An error about the files of a certificate.
    public struct ReadingError: MillstreamError {
        /// The kind of the error.
        public enum Code: String, ErrorCode {
            /// A file has no usable certificate or key.
            case invalid = "invalid-certificate"
        }

        /// The kind of the error.
        public var code: Code { .invalid }
        /// The description of the error.
        public var message: String { description }
        /// The failure and the file that it concerns.
        public let description: String
    }

    /// Creates a certificate from files.
    ///
    /// The files are read once; a renewed certificate needs a restart of the server.
    ///
    /// - Parameters:
    ///   - certificate: A PEM file with the certificate of the server, followed by those of its issuers.
    ///   - key: A PEM file with the private key, without a passphrase.
    /// - Throws: ``ReadingError`` if a file cannot be read, or if the key is not that of the certificate.
    public init(certificate: URL, key: URL) throws(ReadingError) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Self.bytes(of: certificate))
        } catch let error as ReadingError {
            throw error
        } catch {
            throw ReadingError(description: "\(certificate.path) contains no certificate in the PEM format")
        }
        guard !chain.isEmpty else {
            throw ReadingError(description: "\(certificate.path) contains no certificate in the PEM format")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Self.bytes(of: key), format: .pem) { $0([UInt8]()) }
        } catch let error as ReadingError {
            throw error
        } catch {
            throw ReadingError(
                description: "\(key.path) contains no private key in the PEM format, or one with a passphrase"
            )
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw ReadingError(description: "the key \(key.path) is not that of the certificate \(certificate.path)")
        }
        self.configuration = configuration
    }

    /// The maximum size of a file; chains of certificates have a few kilobytes.
    private static let maximumSize = 1 << 20

    private static func bytes(of file: URL) throws -> [UInt8] {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let data = try handle.read(upToCount: maximumSize + 1) ?? Data()
            guard data.count <= maximumSize else {
                throw ReadingError(description: "\(file.path) is larger than \(maximumSize) bytes")
            }
            return Array(data)
        } catch let error as ReadingError {
            throw error
        } catch {
            throw ReadingError(description: "\(file.path) cannot be read (\(FileErrorText.reason(of: error)))")
        }
    }
}

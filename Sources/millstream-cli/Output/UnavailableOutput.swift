import Foundation

// Everything that the command line writes goes through StandardOutput and StandardError: they end quietly when a reader closes
// its pipe, and escape text from outside. The declarations here hide the other ways to write, so that using one of them
// does not compile. `Scripts/check-output` checks that they do.

@available(*, unavailable, message: "Use StandardOutput.writeLine(_:).")
func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@available(*, unavailable, message: "Use string interpolation.")
func print<Target: TextOutputStream>(
    _ items: Any...,
    separator: String = " ",
    terminator: String = "\n",
    to output: inout Target
) {}

@available(*, unavailable, message: "Use StandardError.write(_:).")
func debugPrint(_ items: Any..., separator: String = " ", terminator: String = "\n") {}

@available(*, unavailable, message: "Use StandardError.write(_:).")
@discardableResult func dump<Value>(
    _ value: Value,
    name: String? = nil,
    indent: Int = 0,
    maxDepth: Int = .max,
    maxItems: Int = .max
) -> Value { value }

@available(*, unavailable, message: "Use InputFile.")
func readLine(strippingNewline: Bool = true) -> String? { nil }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use StandardError.write(_:).")
func NSLog(_ format: String, _ arguments: any CVarArg...) {}

@available(*, unavailable, message: "Use OutputDescriptor.")
func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer!, _ count: Int) -> Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func fputs(_ text: UnsafePointer<CChar>!, _ file: Any!) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func puts(_ text: UnsafePointer<CChar>!) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func putchar(_ character: Int32) -> Int32 { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
func perror(_ text: UnsafePointer<CChar>!) {}

@available(*, unavailable, message: "Use OutputDescriptor.")
func fwrite(_ bytes: UnsafeRawPointer!, _ size: Int, _ count: Int, _ file: Any!) -> Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
var stdout: Int { 0 }

@available(*, unavailable, message: "Use OutputDescriptor.")
var stderr: Int { 0 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use OutputDescriptor.results.")
var STDOUT_FILENO: Int32 { 1 }

// swift-format-ignore: AlwaysUseLowerCamelCase
@available(*, unavailable, message: "Use OutputDescriptor.diagnostics.")
var STDERR_FILENO: Int32 { 2 }

/// Hides Foundation's type, which has members that write to the standard descriptors.
@available(*, unavailable, message: "Use StandardOutput, StandardError, OutputDescriptor or InputFile.")
enum FileHandle {}

/// Hides the log handler of swift-log, which writes what it is given without escapes.
@available(*, unavailable, message: "Use TerminalLogHandler.")
enum StreamLogHandler {}

import java.io.ByteArrayInputStream;
import java.io.FileInputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** GETs https://NAME/; with a second argument, shakes hands with that address instead, whatever the name says. */
public class Client {
    public static void main(String[] words) throws Exception {
        SSLContext tls = trusting(System.getenv("SSL_CERT_FILE"));
        if (words.length > 1) {
            Socket raw = new Socket(words[1], 443);
            SSLSocket socket = (SSLSocket) tls.getSocketFactory().createSocket(raw, words[0], 443, true);
            socket.startHandshake();
            System.out.println("shook hands");
            return;
        }
        HttpClient client = HttpClient.newBuilder().sslContext(tls).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://" + words[0] + "/")).build();
        System.out.print(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }

    /** Java reads no PEM files of its own accord. */
    private static SSLContext trusting(String pem) throws Exception {
        KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null, null);
        byte[] certificate = new FileInputStream(pem).readAllBytes();
        roots.setCertificateEntry("root",
            CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(certificate)));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(roots);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return tls;
    }
}
